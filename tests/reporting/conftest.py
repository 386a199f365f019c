from collections.abc import Callable
from typing import Any

import pytest

from dpaudit.claims.entries import AssertionEntry, ClaimEntry, ErratumEntry, PaperEntry, PlaceEntry
from dpaudit.claims.evidence import Interval, Violation
from dpaudit.claims.papers import Paper
from dpaudit.claims.record import Record, Result, SystemEntry, summarise
from dpaudit.claims.verdicts import Verdict, status_of

PAPER = Paper(key="ames2020", title="On coins", authors=("Ames", "Best"), year=2020, doi="10.1/x", sections=("1", "2"))
HOSTILE = "<script src='http://evil.example/x.js'>alert(1)</script> | `tick` & \"quote\" ]]> \x1b[31mred\x00"
LONG = "a long note that goes on for many words so that every format has to wrap it somewhere; " * 4


def _result(verdict: Verdict = Verdict.PROVED, expected: Verdict | None = None, **changes: Any) -> Result:
    values: dict[str, Any] = {
        "target": "coin",
        "claim": "paper.theorem1",
        "kind": "privacy",
        "source": "Paper 2020, Theorem 1",
        "statement": "The report is ϵ-differentially private.",
        "parameters": {"epsilon": 1.0, "agents": 3},
        "view": "report",
        "relation": "substitution",
        "guarantee": "approximate-dp" if changes.get("kind", "privacy") == "privacy" else None,
        "scope": "all 6 pairs of inputs",
        "method": "exact",
        "verdict": verdict,
        "expected": expected,
        "reason": "",
        "ok": status_of(verdict, expected) == 0,
        "claimed": {"epsilon": 1.0, "delta": 0.0},
        "measured": {"epsilon": Interval.exact(0.5), "delta": Interval.exact(0.0)},
        "witness": None,
        "note": "",
        "samples": 0,
        "seed": 0,
        "command": "dpaudit check coin --claim paper.theorem1 --set epsilon=1.0 --set agents=3 --seed 0",
    }
    return Result(**(values | changes))


def _record(*results: Result, **changes: Any) -> Record:
    values: dict[str, Any] = {
        "version": "0.1.0",
        "seed": 0,
        "results": results,
        "summary": summarise(results),
        "environment": {"platform": "some-machine"},
        "timing": {"seconds": 12.5},
    }
    return Record(**(values | changes))


@pytest.fixture
def make_result() -> Callable[..., Result]:
    return _result


@pytest.fixture
def make_record() -> Callable[..., Record]:
    return _record


@pytest.fixture
def full_record() -> Record:
    """Every verdict, as expected and not, on two targets, with strings that are not to be trusted."""
    witness = Violation(
        data=[[2, 1, 0], [0, 1, 2]],
        neighbour=[[0, 1, 2], [0, 1, 2]],
        event={"outcomes": [[2, 1, 0]]},
        p=1 / 6,
        q=0.019,
        forces={"epsilon": 2.17},
    )
    unmeasured: dict[str, Any] = {"measured": {}, "claimed": {}, "kind": "unknown", "source": "", "statement": ""}
    results = [
        _result(Verdict.PROVED, Verdict.PROVED),
        _result(Verdict.CERTIFIED, Verdict.PROVED, parameters={"epsilon": 1.0, "agents": 4}),
        _result(
            Verdict.CONSISTENT,
            parameters={"epsilon": 1.0, "agents": 5},
            method="black-box",
            samples=40000,
            measured={"epsilon": Interval(lower=0.98, upper=None), "detection_limit": Interval.exact(1.07)},
        ),
        _result(
            Verdict.REFUTED,
            claim="paper.theorem2",
            witness=witness,
            measured={"epsilon": Interval.exact(float("inf")), "delta": Interval.exact(0.163)},
        ),
        _result(Verdict.REFUTED, Verdict.REFUTED, claim="paper.theorem2", reason="printed wrong", parameters={}),
        _result(
            Verdict.VACUOUS,
            claim="paper.bound",
            kind="utility",
            view=None,
            relation=None,
            claimed={"bound": 1.5},
            measured={"value": Interval(lower=0.91, estimate=0.93, upper=0.95), "trivial": Interval.exact(1.0)},
        ),
        _result(Verdict.INAPPLICABLE, claim="paper.bound", note="needs n >= 4", measured={}, method="assumptions"),
        _result(Verdict.INCONCLUSIVE, Verdict.PROVED, target="<b>dice</b>", claim=HOSTILE, note=HOSTILE + LONG),
        _result(Verdict.ERROR, target="<b>dice</b>", method="raised", note="raised KeyError: 'x'", **unmeasured),
        _result(
            Verdict.ERROR,
            Verdict.PROVED,
            target="<b>dice</b>",
            method="unusable",
            note="`law` is not a law\nsecond line \udc80",
            parameters={"text": HOSTILE, "seed": 2**90},
            **unmeasured,
        ),
    ]
    erratum = ErratumEntry(where="Section 5", printed=HOSTILE, meant="the other thing", reason="evident")
    entry = SystemEntry(title="A coin | with <b>two</b> sides", description=HOSTILE, source="Paper", errata=(erratum,))
    return _record(*results, systems={"coin": entry})


@pytest.fixture
def make_paper(make_record: Callable[..., Record], make_result: Callable[..., Result]) -> Callable[..., Record]:
    """Make a record of claims: place, verdicts, and changes of the entry and of each result."""

    def make(**claims: tuple) -> Record:
        entries, results = {}, []
        for name, (at, verdicts, *changes) in claims.items():
            claim = f"ames2020.{name.replace('__', '-')}"
            entries[claim] = ClaimEntry(
                paper="ames2020",
                places=(PlaceEntry.of(PAPER.at(**at)),),
                definition="protocols/ames2020/claims.py:7",
                **({"kind": "privacy", "statement": "The coin is private."} | (changes[0] if changes else {})),
            )
            for i, verdict in enumerate(verdicts):
                witness = Violation(data=[1], neighbour=[0], event=1, p=0.9, q=0.1, forces={"epsilon": 2.19})
                values = {
                    "claim": claim,
                    "kind": entries[claim].kind,
                    "statement": entries[claim].statement,
                    "parameters": {"epsilon": i + 1.0},
                    "witness": witness if verdict is Verdict.REFUTED else None,
                    "reason": "the noise is halved" if verdict is Verdict.REFUTED else "",
                    "command": f"dpaudit check coin --claim {claim} --set epsilon={i + 1.0}",
                }
                results.append(make_result(verdict, verdict, **(values | (changes[1][i] if changes[1:] else {}))))
        erratum = ErratumEntry(where="Theorem 1", printed="a | b", meant="b", reason="a is c", systems=("coin",))
        alone = AssertionEntry(where="Section 2", says="coins are | fair", reason="about coins in general")
        entry = PaperEntry(
            title=PAPER.title, authors=PAPER.authors, year=2020, doi=PAPER.doi, errata=(erratum,), left_alone=(alone,)
        )
        return make_record(*results, papers={"ames2020": entry}, claims=entries, command="dpaudit check ames2020")

    return make
