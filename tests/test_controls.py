"""A control is made from the right mechanism and a function that says the bug."""

import numpy as np
import pytest

import dpaudit
from dpaudit.laws import FiniteLaw

PAPER = dpaudit.Paper(key="coin2026", title="A coin", authors=("Coin",), year=2026)


class Answer(dpaudit.Mechanism):
    """One answer by randomized response."""

    epsilon: float = dpaudit.parameter(1.0, doc="ϵ")
    values: int = dpaudit.parameter(2, minimum=2, doc="d")
    salted: bool = dpaudit.parameter(False, doc="whether outputs are shifted")

    def law(self, data):
        weights = np.where(np.arange(self.values) == data, self.epsilon, 0.0)
        return FiniteLaw((np.arange(self.values) + self.salted).tolist(), weights - np.log(np.exp(weights).sum()))

    def sample(self, data, size, rng):
        law = self.law(data)
        return rng.choice(law.outcomes, size, p=np.exp(law.log_probabilities))

    def neighbours(self):
        return dpaudit.Neighbouring(relation="any-two-inputs", pairs=[(0, 1)], complete=True, scope="two answers")


COMMON = {"paper": PAPER, "statement": "The answer is ϵ-LDP."}


@dpaudit.control("control.twice", Answer, **COMMON, exact=True, fixed={"salted": True}, values=3)
def twice(right):
    """Twice the budget."""
    return right.but(epsilon=2 * right.epsilon)


@dpaudit.control("control.sampled", Answer, **COMMON)
def sampled(right):
    """Twice the budget, without a law."""
    return right.but(epsilon=2 * right.epsilon)


def test_a_control_has_the_parameters_that_are_not_fixed_and_may_have_a_law():
    assert twice.parameter_names() == ["epsilon", "values"]
    target = twice()
    assert target.parameters() == {"epsilon": 1.0, "values": 3}
    assert list(target.law(0).outcomes) == [1, 2, 3]
    assert set(target.sample(0, 50, np.random.default_rng(1)).tolist()) <= {1, 2, 3}
    (result,) = dpaudit.check(target).results
    assert (result.method, result.verdict) == ("exact", "refuted")
    assert result.measured["epsilon"].lower == pytest.approx(2.0)
    assert sampled().law(0) is None


def test_a_control_refuses_what_it_cannot_do():
    with pytest.raises(dpaudit.TargetError, match="no parameter 'unknown'"):
        dpaudit.control("control.wrong", Answer, **COMMON, fixed={"unknown": 1})

    def outputs(right, data, size, rng):
        """Outputs alone."""

    with pytest.raises(dpaudit.TargetError, match="which have no law"):
        dpaudit.control("control.wrong", Answer, **COMMON, exact=True)(outputs)
