"""Hay, Elagina, Miklau 2017: differentially private rank aggregation in the central model."""

import dpaudit

PAPER = dpaudit.Paper(
    key="hay2017",
    title="Differentially private rank aggregation",
    authors=("Hay", "Elagina", "Miklau"),
    year=2017,
    venue="SIAM International Conference on Data Mining (SDM)",
    symbols={"ϵ": "epsilon", "m": "alternatives", "n": "agents"},
)
