"""Central model, Reduction II: the budget of Theorem 5, and the noise that Corollaries 6 and 7 print."""

import dpaudit

from ..dp_kwiksort_capped import DPKwikSortCapped
from ..paper import CENTRAL, PAPER
from .central_shared import GAUSSIAN, LAPLACE, about

THEOREM_5 = PAPER.at(section=CENTRAL, theorem=5)
PRINTED_FALLBACK = {"calibration": "printed"}
NOISE_6 = PAPER.at(section=CENTRAL, corollary=6, part="before", note="the noise")
COROLLARY_6 = PAPER.at(section=CENTRAL, corollary=6)
COROLLARY_7 = PAPER.at(section=CENTRAL, corollary=7)
ALGORITHM_1 = PAPER.at(section=CENTRAL, algorithm=1)

PRINTED = {"budget": "printed"}
MEANT = {"budget": "meant"}


@dpaudit.claim(
    "alabi2022.theorem5-budget",
    DPKwikSortCapped,
    kind="privacy",
    place=THEOREM_5,
    statement=(
        "For every ϵ > 0, m, n and q: q answers that are (ϵ/2, δ)-differentially private and the fallback at ϵ/2 are "
        "(ϵ, δ)-differentially private together; δ = 0 with Laplace noise."
    ),
    mends=[
        "alabi2022.corollary6-budget",
        "alabi2022.corollary6-budget-tight",
        "alabi2022.corollary6-transcript",
        "alabi2022.corollary7-budget",
        "alabi2022.corollary7-transcript",
    ],
)
@about(MEANT)
def theorem5_budget(system: DPKwikSortCapped) -> dpaudit.PrivacyClaim:
    """Theorem 5, which also mends Corollary 6: noise Lap(2q / (ϵn)) in place of Lap(q / (ϵn))."""
    return dpaudit.PrivacyClaim(epsilon=system.epsilon, delta=system.delta, view="longest-run")


@dpaudit.claim(
    "alabi2022.theorem5-transcript",
    DPKwikSortCapped,
    kind="privacy",
    place=THEOREM_5,
    statement=(
        "For every ϵ > 0, m, n and q: with (ϵ/2, δ) for the answers, what a run computes from the data is (ϵ, "
        "δ)-differentially private; δ = 0 with Laplace noise."
    ),
)
@about(MEANT)
def theorem5_transcript(system: DPKwikSortCapped) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(epsilon=system.epsilon, delta=system.delta, view="transcript")


@dpaudit.claim(
    "alabi2022.theorem5-output",
    DPKwikSortCapped,
    kind="privacy",
    place=THEOREM_5,
    statement=(
        "For every ϵ > 0, m, n and q: with (ϵ/2, δ) for the answers, the ranking is (ϵ, δ)-differentially private; δ = "
        "0 with Laplace noise."
    ),
)
@about(MEANT)
def theorem5_output(system: DPKwikSortCapped) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(epsilon=system.epsilon, delta=system.delta)


@dpaudit.claim(
    "alabi2022.corollary6-budget",
    DPKwikSortCapped,
    kind="privacy",
    place=NOISE_6,
    statement=(
        "For every ϵ > 0, m and n, and every q that a run can exceed: q answers with the printed noise Lap(q / (ϵn)) "
        "and the fallback at ϵ/2, with the noise printed before Corollary 3, are ϵ-differentially private together."
    ),
)
@about(LAPLACE)
@about(PRINTED)
@about(PRINTED_FALLBACK)
def corollary6_budget(system: DPKwikSortCapped) -> dpaudit.PrivacyClaim:
    return _longest_run(system, delta=0.0)


@dpaudit.claim(
    "alabi2022.corollary6-budget-tight",
    DPKwikSortCapped,
    kind="privacy",
    place=NOISE_6,
    ours=True,
    statement=(
        "For every ϵ > 0, m and n, and every q that a run can exceed: the same with the least Laplace noise with which "
        "the fallback is ϵ/2-differentially private, Lap(2 C(m, 2) / (ϵn))."
    ),
)
@about(LAPLACE)
@about(PRINTED)
@about({"calibration": "tight"})
def corollary6_budget_tight(system: DPKwikSortCapped) -> dpaudit.PrivacyClaim:
    return _longest_run(system, delta=0.0)


@dpaudit.claim(
    "alabi2022.corollary6-transcript",
    DPKwikSortCapped,
    kind="privacy",
    place=NOISE_6,
    statement=(
        "For every ϵ > 0, m and n, and every q that a run can exceed: with the printed noise Lap(q / (ϵn)), what a run "
        "computes from the data is ϵ-differentially private."
    ),
)
@about(LAPLACE)
@about(PRINTED)
def corollary6_transcript(system: DPKwikSortCapped) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(epsilon=system.epsilon, view="transcript", inapplicable=_never_falls_back(system))


@dpaudit.claim(
    "alabi2022.corollary6-output",
    DPKwikSortCapped,
    kind="privacy",
    place=[COROLLARY_6, ALGORITHM_1],
    statement=(
        "For every ϵ > 0, m, n and q: with the printed noise Lap(q / (ϵn)), the ranking is ϵ-differentially private."
    ),
)
@about(LAPLACE)
@about(PRINTED)
def corollary6_output(system: DPKwikSortCapped) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(epsilon=system.epsilon)


@dpaudit.claim(
    "alabi2022.corollary7-budget",
    DPKwikSortCapped,
    kind="privacy",
    place=COROLLARY_7,
    ours=True,
    statement=(
        "For every ϵ > 0, δ, m and n, and every q that a run can exceed: q answers whose Gaussian noise is (ϵ, "
        "δ)-differentially private, by the classical constant or exactly, and the fallback at ϵ/2 are (ϵ, "
        "δ)-differentially private together. The paper prints O(.) for the constant."
    ),
)
@about(GAUSSIAN)
@about(PRINTED)
def corollary7_budget(system: DPKwikSortCapped) -> dpaudit.PrivacyClaim:
    return _longest_run(system, delta=system.delta)


@dpaudit.claim(
    "alabi2022.corollary7-transcript",
    DPKwikSortCapped,
    kind="privacy",
    place=COROLLARY_7,
    ours=True,
    statement=(
        "For every ϵ > 0, δ, m and n, and every q that a run can exceed: with Gaussian noise that is (ϵ, "
        "δ)-differentially private for q answers, what a run computes from the data is (ϵ, δ)-differentially private."
    ),
)
@about(GAUSSIAN)
@about(PRINTED)
def corollary7_transcript(system: DPKwikSortCapped) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(
        epsilon=system.epsilon, delta=system.delta, view="transcript", inapplicable=_never_falls_back(system)
    )


def _longest_run(system: DPKwikSortCapped, *, delta: float) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(
        epsilon=system.epsilon, delta=delta, view="longest-run", inapplicable=_never_falls_back(system)
    )


def _never_falls_back(system: DPKwikSortCapped) -> str:
    """Why the fallback cannot run, where the cap is the number of pairs."""
    return "" if system.capped else f"the fallback never runs: the cap is {system.limit}, and there are as many pairs"
