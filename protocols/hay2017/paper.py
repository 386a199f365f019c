"""Hay, Elagina, Miklau 2017: differentially private rank aggregation in the central model."""

import dpaudit

PAPER = dpaudit.Paper(
    key="hay2017",
    title="Differentially private rank aggregation",
    authors=("Hay", "Elagina", "Miklau"),
    year=2017,
    venue="SIAM International Conference on Data Mining (SDM)",
    doi="10.1137/1.9781611974973.75",
    symbols={"ϵ": "epsilon", "m": "alternatives", "n": "agents"},
)

LEFT_ALONE = (
    dpaudit.Assertion(
        where=PAPER.at(),
        says="DP-KwikSort and the other algorithms are differentially private, and what is said of their utility.",
        reason=(
            "no text of the paper was at hand, so that no claim stands under its name; DP-KwikSort is audited as Yan, "
            "Li and Liu 2020 restate it (yan2020.dp-kwiksort), the exponential mechanism over all rankings as Alabi, "
            "Ghazi, Kumar and Manurangsi 2022 do; on this page are statements of ours and their broken variants"
        ),
    ),
)
"""What the paper asserts and what is not audited."""
