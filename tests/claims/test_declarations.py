"""Claims declared apart from mechanisms: what is filled in, and what is refused."""

import pytest

import dpaudit
from dpaudit.claims.declarations import declarations_of
from dpaudit.runner import Request, build_cells

PAPER = dpaudit.Paper(key="coins2026", title="Coins", authors=("A",), year=2026)


class Coin(dpaudit.Mechanism):
    """A coin."""

    epsilon: float = 1.0


class Better(Coin):
    """A better coin, about which the same is claimed."""


@dpaudit.claim(
    "coins2026.one", Coin, kind="privacy", statement="It is private.", place=PAPER.at(section="2", theorem=1)
)
def one(coin):
    return dpaudit.PrivacyClaim(epsilon=coin.epsilon)


@dpaudit.claim("coins2026.wrong", Coin, kind="lemma", statement="It is a lemma.")
def wrong(coin):
    return dpaudit.PrivacyClaim(epsilon=coin.epsilon)


@dpaudit.claim("coins2026.negative", Coin, kind="privacy", statement="It is private.")
def negative(coin):
    return dpaudit.PrivacyClaim(epsilon=-1.0)


def test_a_declared_claim_is_bound_with_what_was_declared():
    bound = one(Coin(epsilon=2.0))
    assert (bound.id, bound.statement) == ("coins2026.one", "It is private.")
    assert (bound.source, bound.guarantee) == ("A 2026, Theorem 1", dpaudit.ApproximateDP(2.0))
    assert one.paper is PAPER
    assert one.file is not None
    assert one.file.name == "test_declarations.py"
    lines = one.file.read_text().splitlines()
    assert lines[one.line - 1].startswith("@dpaudit.claim(")


@pytest.mark.parametrize(
    ("name", "mends", "expected"),
    [
        ("coins2026.two-mended", (), ("coins2026.two",)),
        ("coins2026.better", "coins2026.two", ("coins2026.two",)),
        ("coins2026.both-mended", ("coins2026.one", "coins2026.two"), ("coins2026.one", "coins2026.two")),
        ("coins2026.two", (), ()),
    ],
)
def test_a_claim_says_which_it_mends(name, mends, expected):
    class Own(Coin):
        """A coin with claims of its own."""

    declare = dpaudit.claim(name, Own, kind="privacy", statement="It is private.", mends=mends, ours=True)
    assert declare(lambda coin: dpaudit.PrivacyClaim(epsilon=coin.epsilon)).mends == expected


def test_claims_about_a_class_are_about_those_that_derive_from_it():
    assert [each.id for each in declarations_of(Better)] == ["coins2026.one", "coins2026.wrong", "coins2026.negative"]


def test_a_claim_of_another_kind_is_refused():
    with pytest.raises(dpaudit.TargetError, match=r"coins2026\.wrong is declared to be of kind lemma"):
        wrong(Coin())


def test_an_impossible_claim_names_itself():
    with pytest.raises(dpaudit.ParameterError, match=r"claim coins2026\.negative: epsilon must be"):
        negative(Coin())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"place": "Theorem 1"}, "place must be a Place"),
        ({"place": ["Theorem 1"]}, "place must be a Place"),
        ({"kind": "theorem"}, "kind must be one of"),
        ({"target": int}, "target must be a class of mechanisms"),
    ],
)
def test_a_declaration_that_cannot_be_used(arguments, words):
    given = {"target": Coin, "kind": "privacy", "statement": "s", **arguments}
    with pytest.raises(dpaudit.TargetError, match=words):
        dpaudit.claim("coins2026.refused", given.pop("target"), **given)


def test_two_claims_of_one_id_are_refused():
    with pytest.raises(dpaudit.TargetError, match=r"two claims are named 'coins2026\.one'"):
        dpaudit.claim("coins2026.one", Coin, kind="privacy", statement="Again.")(lambda coin: None)


@pytest.mark.parametrize(
    "given",
    [
        {"guarantee": 3},
        {"guarantee": dpaudit.ApproximateDP(0.1), "delta": 0.9},
        {"guarantee": dpaudit.ApproximateDP(0.1), "epsilon": 0.2},
        {},
    ],
)
def test_a_privacy_claim_says_one_thing(given):
    with pytest.raises(dpaudit.ParameterError, match="guarantee"):
        dpaudit.PrivacyClaim(id="a", statement="b", **given)


def test_claims_of_both_kinds_on_one_class_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "both.py").write_text(
        "import dpaudit\n"
        "class M(dpaudit.Mechanism):\n"
        "    def claims(self):\n"
        "        return [dpaudit.UtilityClaim(id='a', statement='s', bound=1.0, exact=lambda: 0.5)]\n"
        "@dpaudit.claim('b', M, kind='privacy', statement='s')\n"
        "def b(m):\n"
        "    return dpaudit.PrivacyClaim(epsilon=1.0)\n"
    )
    with pytest.raises(dpaudit.TargetError, match="make all of them in one of the two ways"):
        build_cells(Request(targets=["both.py"]))
