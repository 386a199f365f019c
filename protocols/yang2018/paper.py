"""The paper, the works that it builds on, and its errata."""

from typing import Any

import dpaudit

PAPER = dpaudit.Paper(
    key="yang2018",
    title="Collecting preference rankings under local differential privacy",
    authors=("Yang", "Cheng", "Su", "Chen", "Ren", "Liu"),
    year=2018,
    venue="technical report, 2018; ICDE 2019",
    doi="10.1109/ICDE.2019.00151",
    url="https://github.com/cheng-lab-at-bupt/SAFARI",
    sections={
        "I": "Introduction",
        "II": "Preliminaries and problem statement",
        "II-A": "Preference ranking",
        "II-B": "Riffle independent model",
        "II-C": "Problem statement",
        "III": "SAFARI",
        "III-A": "Overview of SAFARI",
        "III-B": "Design of Rule I",
        "III-C": "Design of Rule II",
        "III-D": "Sampling randomizer for multiple attributes",
        "IV": "Experiments",
        "IV-A": "Experimental settings",
        "IV-B": "Results",
        "V": "Conclusion",
    },
    symbols={
        "ε": "epsilon",
        "ε'": "epsilon, in SAFA and Harmony",
        "d": "items",
        "n": "agents",
        "K": "thin",
        "T": "chain",
        "σ^-1": "positions (0-based)",
        "|A|": "attributes",
        "|dom(A_j)|": "values, in text m",
        "z_j": "estimates of one attribute",
    },
)

HARMONY = dpaudit.Paper(
    key="nguyen2016",
    title="Collecting and analyzing data from smart device users with local differential privacy",
    authors=("Nguyen", "Xiao", "Yang", "Hui", "Shin", "Shin"),
    year=2016,
    venue="arXiv:1606.05053",
)


def technical_report(theorem: int, *, note: str = "") -> dpaudit.Place:
    """Place of a theorem of the technical report, to which Section III-D refers for the guarantees of SAFA.

    The report itself was not at hand: the numbers and formulas of its theorems are quoted at second hand, in the
    statements of the claims, and nothing is known here of its assumptions or proofs.
    """
    return PAPER.at(section="III-D", theorem=theorem, note=f"technical report{', ' if note else ''}{note}")


SPLIT_OBJECTIVE = dpaudit.Erratum(
    where=PAPER.at(section="II-B"),
    printed="the chain optimises an objective function of tripletwise mutual information (the Anchors method)",
    meant=(
        "least sum of I(x; y, z) with x on one side and y, z on the other; Anchors tries, for every two items kept "
        "behind, the K others whose places tell least about their order; the parameter `split` chooses between this "
        "and all subsets"
    ),
    reason=(
        "neither the objective nor the search is stated; one fixed anchor, as in ICML 2010, would never be split off"
    ),
)
RANKS = dpaudit.Erratum(
    where=PAPER.at(section="II-B", definition=1),
    printed="φ is the rank of x under σ, at every split of the chain (so also Phases 1 and 2 of Section III-A)",
    meant="left open: `ranks` takes the rank among all items, or among those of the set that is split",
    reason=(
        "S3 has ranks among all items only; the model needs them within the set, and items that were split off earlier "
        "make the others dependent; with `relative` the users are dealt out to a round for each split"
    ),
)
USERS_ASKED = dpaudit.Erratum(
    where=PAPER.at(section="III-D", algorithm=1, line=12),
    printed="n q_j is subtracted, as if the number of users asked about attribute j were n/|A|",
    meant="implemented as printed",
    reason="unbiased, but the number asked is known and random; using that number instead would leave less variance",
)
PROJECTION = dpaudit.Erratum(
    where=PAPER.at(section="III-D"),
    printed="the domain of A_j is projected into a binary matrix of size |dom(A_j)| x |dom(A_j)|",
    meant="left open: `projection` is hadamard (orthogonal, order a power of two) or random (fair signs)",
    reason="no construction is given; with random signs the values leak into each other however many users there are",
)
NEGATIVE_ESTIMATES = dpaudit.Erratum(
    where=PAPER.at(section="III-D"),
    printed="estimates go into logarithms and samplers, whether negative or not",
    meant="left open: `postprocess`",
    reason="a negative frequency has no logarithm and cannot be sampled from, and its treatment decides Figure 1",
)
SAFA_VARIANCE = dpaudit.Erratum(
    where=technical_report(theorem=3),
    printed="Var z_j[k] is about ((e + m - 1)|A| - 1) / (n (e - 1)^2), where e stands for e^ε'",
    meant="that plus f (e - 1) ((e + m - 1)|A| - e - 1) / (n (e - 1)^2)",
    reason="the count of a report is 1 with probability p/|A| for the share f, and q/|A| for the others",
)
HARMONY_VARIANCE = dpaudit.Erratum(
    where=technical_report(theorem=4),
    printed="Var_Harmony = (2|A| - 1)(e + 1)^2 / (n (e - 1)^2), where e stands for e^ε'",
    meant="(|A| (e + 1)^2 / (e - 1)^2 - f) / n",
    reason=(
        "a user adds ±|A| (e + 1)/(e - 1) with probability 1/|A|, whose square has the mean "
        "|A| (e + 1)^2 / (e - 1)^2; orthogonal columns make its mean 1 for the share f, and 0 for the others"
    ),
)
SECOND_ORDER = dpaudit.Erratum(
    where=PAPER.at(section="IV-A"),
    printed="the second-order marginals of [2]",
    meant="for each two items i < j the law of (place of i, place of j); error: mean of half the L1 distances",
    reason="no formula is given",
)
SIGN_ROWS = dpaudit.Erratum(
    where=PAPER.at(section="IV-A"),
    printed="SH [9], without the number of rows of its random matrix",
    meant="left open: implemented with a row of its own for every user",
    reason="fewer rows than users make values leak into each other, so this is the variant that errs least",
)

ERRATA = (
    SPLIT_OBJECTIVE,
    RANKS,
    USERS_ASKED,
    PROJECTION,
    NEGATIVE_ESTIMATES,
    SAFA_VARIANCE,
    HARMONY_VARIANCE,
    SECOND_ORDER,
    SIGN_ROWS,
)
"""All errata of the paper, in its order."""


def _left(says: str, reason: str, section: str, **where: Any) -> dpaudit.Assertion:
    return dpaudit.Assertion(where=PAPER.at(section=section, **where), says=says, reason=reason)


LEFT_ALONE = (
    _left("It is the first study of collecting rankings under local differential privacy.", "about the history", "I"),
    _left("The number of rankings grows factorially in the number of items.", "it follows from the definition", "I"),
    _left(
        "The idea is applicable to other types of data.",
        "no system, and no number, for other types is given",
        "I",
    ),
    _left(
        "The riffle independent model is well established, and is built by optimising tripletwise mutual information.",
        "about Huang and Guestrin's work; what it gives is audited (noprivacy-model, noprivacy-chain, learned-chain)",
        "II-B",
    ),
    _left(
        "Tripletwise mutual information is the sum of Definition 1, and items that are kept together correlate "
        "strongly.",
        "a definition and its motive; whether the chain helps is audited (noprivacy-chain)",
        "II-B",
        definition=1,
    ),
    _left(
        "Leaves of one item need no attribute, and at K = 1 there are attributes of interleavings alone.",
        "a definition; the attributes are what `Chain.sizes` lists",
        "III-C",
    ),
    _left(
        "The frequencies of Rule II's attributes give all distributions over the chain.",
        "a definition; that they are unbiased is audited (safa-theorem2)",
        "III-C",
    ),
    _left("Harmony is the state of the art for one-way marginals.", "about other people's systems", "III-D"),
    _left(
        "Its projection adds noise that a small domain, a binary one above all, does not need.",
        "a motive; the variances are compared exactly (safa-theorem4, safa-theorem4-meant)",
        "III-D",
    ),
    _left(
        "Wang et al. proved that GRR is the best oracle for a small number of values.",
        "about another paper's theorem, and how small is not said; the crossover is audited (grr-best-mended)",
        "III-D",
    ),
    _left(
        "The Sushi data hold rankings of 10 kinds of sushi by 5,000 voters across Japan.",
        "about data that may not be passed on; `--data` takes them",
        "IV-A",
    ),
    _left(
        "Figures 1 and 2 plot errors on the Sushi data.",
        "the curves are printed without numbers, and the data may not be passed on; what the text says of the curves "
        "is claimed of the data, for `--data`, and audited on users of a model under names of our own",
        "IV-B",
        figure=(1, 2),
    ),
    _left(
        "The chain makes the collected distributions more robust against noise.",
        "a reason for Figure 1(b), whose effect is audited (figure1b-degrades, learned-chain)",
        "IV-B",
        figure="1(b)",
    ),
    _left("The approach is effective in many applications.", "an opinion", "V"),
)
"""What the paper asserts and is not audited, in its order."""
