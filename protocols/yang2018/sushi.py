"""Section IV-B: what the text says of Figures 1 and 2, which plot the Sushi data. They are decided with ``--data``."""

from dataclasses import replace

import dpaudit

from . import evaluation
from .paper import PAPER
from .safari import Safari

WITHOUT_DATA = "it is said of the Sushi data: give them with --data"


def on_the_data(safari: Safari, claim: dpaudit.Claim) -> dpaudit.UtilityClaim:
    """Return the claim about users of a model as one about the data."""
    assert isinstance(claim, dpaudit.UtilityClaim)
    without = "" if safari.profile is not None else WITHOUT_DATA
    return replace(claim, inapplicable=without or claim.inapplicable)


@dpaudit.claim(
    "yang2018.figure1a-sushi",
    Safari,
    kind="utility",
    place=[PAPER.at(section="IV-B", figure="1(a)"), PAPER.at(section="IV-B", figure="1(b)")],
    statement=(
        'On the Sushi data, at the stated ε and d >= 4 (the text has d "relatively large"): SAFARI\'s error is below '
        "that of GRR, RAPPOR, SH and OLH in most runs, more than half of them (chosen here)."
    ),
    on_data=True,
    reproduces="Figure 1(a)",
)
def figure1a_sushi(safari: Safari) -> dpaudit.UtilityClaim:
    return on_the_data(safari, evaluation.figure1a(safari))


@dpaudit.claim(
    "yang2018.figure1a-small-sushi",
    Safari,
    kind="utility",
    place=PAPER.at(section="IV-B", figure="1(a)"),
    statement=(
        "On the Sushi data, at the stated ε, with d = 3 items: GRR, RAPPOR, SH and OLH perform well, all err at most "
        "0.05 more than SAFARI in most runs (both chosen here)."
    ),
    on_data=True,
    reproduces="Figure 1(a)",
)
def figure1a_small_sushi(safari: Safari) -> dpaudit.UtilityClaim:
    return on_the_data(safari, evaluation.figure1a_small(safari))


@dpaudit.claim(
    "yang2018.figure1a-growth-sushi",
    Safari,
    kind="utility",
    place=PAPER.at(section="IV-B", figure="1(a)"),
    statement=(
        "On the Sushi data, at the stated ε and d: SAFARI's lead over the best flat baseline is larger with d items "
        "than with d - 1, in most runs (chosen here)."
    ),
    on_data=True,
    reproduces="Figure 1(a)",
)
def figure1a_growth_sushi(safari: Safari) -> dpaudit.UtilityClaim:
    return on_the_data(safari, evaluation.figure1a_growth(safari))


@dpaudit.claim(
    "yang2018.figure1b-nopriv-sushi",
    Safari,
    kind="utility",
    place=PAPER.at(section="IV-B", figure="1(b)"),
    statement=(
        "On the Sushi data, at the stated ε and d: SAFARI's error is close to NoPriv's, at most 0.05 above it in most "
        "runs (both chosen here)."
    ),
    on_data=True,
    reproduces="Figure 1(b)",
)
def figure1b_nopriv_sushi(safari: Safari) -> dpaudit.UtilityClaim:
    return on_the_data(safari, evaluation.figure1b_nopriv(safari))


@dpaudit.claim(
    "yang2018.figure1b-nopriv-large-sushi",
    Safari,
    kind="utility",
    place=PAPER.at(section="IV-B", figure="1(b)"),
    statement=(
        "On the Sushi data, at the stated ε and d: SAFARI is nearer to NoPriv where ε is larger, its error is less "
        "above NoPriv's at ε than at ε/2, in most runs (chosen here)."
    ),
    on_data=True,
    reproduces="Figure 1(b)",
)
def figure1b_nopriv_large_sushi(safari: Safari) -> dpaudit.UtilityClaim:
    return on_the_data(safari, evaluation.figure1b_nopriv_large(safari))


@dpaudit.claim(
    "yang2018.figure1b-degrades-sushi",
    Safari,
    kind="utility",
    place=PAPER.at(section="IV-B", figure="1(b)"),
    statement=(
        "On the Sushi data, at the stated ε and d: SAFARI's quality does not degrade significantly, its error at ε/2 "
        "is at most 0.05 above that at ε in most runs (both chosen here)."
    ),
    on_data=True,
    reproduces="Figure 1(b)",
)
def figure1b_degrades_sushi(safari: Safari) -> dpaudit.UtilityClaim:
    return on_the_data(safari, evaluation.figure1b_degrades(safari))


@dpaudit.claim(
    "yang2018.figure1b-advantage-sushi",
    Safari,
    kind="utility",
    place=PAPER.at(section="IV-B", figure="1(b)"),
    statement=(
        "On the Sushi data, at the stated ε and d: SAFARI's superiority is more pronounced as ε decreases, its lead "
        "over the best flat baseline larger at ε/2 than at ε in most runs (chosen here)."
    ),
    on_data=True,
    reproduces="Figure 1(b)",
)
def figure1b_advantage_sushi(safari: Safari) -> dpaudit.UtilityClaim:
    return on_the_data(safari, evaluation.figure1b_advantage(safari))


@dpaudit.claim(
    "yang2018.figure2-sushi",
    Safari,
    kind="utility",
    place=PAPER.at(section="IV-B", figure=2),
    statement=(
        "On the Sushi data, at the stated ε and d: SAFA's distributions S3 are nearer to the truth than Harmony's, "
        "both at ε/2 and Harmony with the Hadamard matrix, in most runs (budget, matrix and share of the runs chosen "
        "here)."
    ),
    on_data=True,
    reproduces="Figure 2",
)
def figure2_sushi(safari: Safari) -> dpaudit.UtilityClaim:
    return on_the_data(safari, evaluation.figure2(safari))
