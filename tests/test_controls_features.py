"""Controls made of a right mechanism: their own claim, their own features."""

import numpy as np

import dpaudit
from dpaudit.auditors import Budget, Streams, audit

PAPER = dpaudit.Paper(key="made2026", title="Two noisy numbers", authors=("Nobody",), year=2026)


class TwoNumbers(dpaudit.Mechanism):
    """Two numbers with Laplace noise."""

    epsilon: float = dpaudit.parameter(1.0)

    def sample(self, data, size, rng):
        return np.asarray(data) + rng.laplace(0.0, 1 / self.epsilon, (size, 2))

    def features(self, outputs):
        return outputs[:, :1]

    def neighbours(self):
        return dpaudit.Neighbouring(relation="add-remove", pairs=[([0, 0], [1, 0])], complete=True, scope="one pair")


@dpaudit.control(
    "control.one-noise",
    TwoNumbers,
    paper=PAPER,
    statement="The two numbers are ϵ-DP.",
    features=lambda right, outputs: np.round(right.epsilon * (outputs[:, :1] - outputs[:, 1:]), 6),
)
def one_noise(right, data, size, rng):
    """Both numbers get the same noise."""
    return np.asarray(data) + rng.laplace(0.0, 1 / right.epsilon, (size, 1))


@dpaudit.control("control.half-noise", TwoNumbers, paper=PAPER, statement="The two numbers are ϵ-DP.")
def half_noise(right):
    """The noise is for half the sensitivity."""
    return right.but(epsilon=2 * right.epsilon)


def test_features_of_a_control_are_its_own_or_those_of_the_right_mechanism():
    outputs = np.array([[3.0, 1.0], [0.25, 0.0]])
    assert one_noise(epsilon=2.0).features(outputs).tolist() == [[4.0], [0.5]]
    assert half_noise().features(outputs).tolist() == [[3.0], [0.25]]


def test_a_bug_that_only_its_features_show_is_found():
    control = one_noise()
    (claim,) = control.claims()
    assert (claim.id, claim.source) == ("control.one-noise", "Both numbers get the same noise.")
    evidence = audit(control, claim, budget=Budget(samples=20_000), streams=Streams(0))
    assert evidence.verdict == "refuted"
