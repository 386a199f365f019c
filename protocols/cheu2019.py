"""Cheu, Smith, Ullman, Zeber, Zhilyaev 2019: the work that Song et al. cite for what shuffling does to privacy.

Its theorem on protocols of single messages is audited as the evident meaning of Song et al.'s Theorem 2.1.
"""

import dpaudit

PAPER = dpaudit.Paper(
    key="cheu2019",
    title="Distributed differential privacy via shuffling",
    authors=("Cheu", "Smith", "Ullman", "Zeber", "Zhilyaev"),
    year=2019,
    venue="EUROCRYPT",
    doi="10.1007/978-3-030-17653-2_13",
)
