"""Claims, domains and neighbouring relations check what they are given."""

import math

import pytest

import dpaudit

UTILITY = {"id": "u", "statement": "s", "bound": 1.0, "exact": lambda: 0.5}


@pytest.mark.parametrize("epsilon", [-1.0, math.inf, math.nan])
def test_a_privacy_claim_needs_a_finite_epsilon(epsilon):
    with pytest.raises(dpaudit.ParameterError, match=r"claim p: epsilon must be a finite number >= 0"):
        dpaudit.PrivacyClaim(id="p", statement="s", epsilon=epsilon)


@pytest.mark.parametrize("delta", [-0.1, 1.1, math.nan, math.inf])
def test_a_privacy_claim_needs_a_probability(delta):
    with pytest.raises(dpaudit.ParameterError, match=r"claim p: delta must be in \[0, 1\]"):
        dpaudit.PrivacyClaim(id="p", statement="s", epsilon=1.0, delta=delta)


def test_values_at_the_edge():
    assert dpaudit.PrivacyClaim(id="p", statement="s", epsilon=0.0, delta=1.0).kind == "privacy"
    assert dpaudit.UtilityClaim(**UTILITY).kind == "utility"
    assert dpaudit.LemmaClaim(id="l", statement="s", margin=lambda: 0.0, instances=[{}]).kind == "lemma"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"bound": math.nan}, "finite number"),
        ({"bound": math.inf}, "finite number"),
        ({"support": (1.0, 0.0)}, "support"),
        ({"support": (0.0, 0.0)}, "support"),
        ({"beside_support": (2.0, 1.0)}, "support"),
        ({"exact": None}, "give `exact` or `measure`"),
        ({"measure": lambda runs, rng: rng.random(runs), "support": (0.0, math.inf)}, "finite support"),
    ],
)
def test_a_utility_claim_that_says_nothing(changes, words):
    with pytest.raises(dpaudit.ParameterError, match=words):
        dpaudit.UtilityClaim(**{**UTILITY, **changes})


def test_an_inapplicable_claim_need_not_be_measurable():
    claim = dpaudit.UtilityClaim(id="u", statement="s", bound=1.0, inapplicable="there is no n")
    assert claim.inapplicable


@pytest.mark.parametrize(
    "make",
    [
        lambda: dpaudit.Reals(1.0, 0.0),
        lambda: dpaudit.Reals(0.0, math.inf),
        lambda: dpaudit.Reals(math.nan, 1.0),
        lambda: dpaudit.Integers(2, 1),
        lambda: dpaudit.RankingProfiles(0, 3),
        lambda: dpaudit.RankingProfiles(1, 1),
    ],
)
def test_an_empty_domain(make):
    with pytest.raises(dpaudit.ParameterError, match="needs"):
        make()


def test_claims_are_values():
    claim = dpaudit.PrivacyClaim(id="p", statement="s", epsilon=1.0)
    assert claim == dpaudit.PrivacyClaim(id="p", statement="s", epsilon=1.0)
    with pytest.raises(AttributeError):
        claim.epsilon = 2.0
    with pytest.raises(TypeError):
        dpaudit.PrivacyClaim("p", "s", epsilon=1.0)


def test_any_two_inputs():
    neighbouring = dpaudit.Neighbouring.any_two_inputs("abc", scope="letters")
    assert list(neighbouring) == list(neighbouring) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert neighbouring.complete
    assert neighbouring.relation == "any-two-inputs"
    with pytest.raises(dpaudit.TargetError, match="at least two"):
        dpaudit.Neighbouring.any_two_inputs("a", scope="one letter")


def test_pairs_may_come_from_a_function_or_a_list():
    for pairs in ([(0, 1)], lambda: iter([(0, 1)])):
        neighbouring = dpaudit.Neighbouring(relation="own", pairs=pairs, complete=False, scope="")
        assert list(neighbouring) == list(neighbouring) == [(0, 1)]


def test_inputs_that_look_alike_may_differ():
    unlike = [(1, True), (1, 1.0), ([1], (1,)), ({"a": 1}, {"a": 1})]
    neighbouring = dpaudit.Neighbouring(relation="own", pairs=unlike, complete=False, scope="")
    assert list(neighbouring) == unlike
