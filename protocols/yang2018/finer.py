"""What SAFA's report satisfies in zero-concentrated differential privacy: a statement of ours."""

import dpaudit

from .paper import PAPER
from .safa import Safa


@dpaudit.claim(
    "yang2018.safa-concentrated",
    Safa,
    kind="privacy",
    place=PAPER.at(section="III-D", algorithm=(1, 2), note="in zero-concentrated DP"),
    statement=(
        "At every ε', |A| and m a user's report by SAFA is ρ-zCDP with ρ = ε' tanh(ε'/2), as every ε'-DP mechanism is; "
        "at m = 2 with no smaller ρ."
    ),
    ours=True,
)
def safa_concentrated(collector: Safa) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(guarantee=dpaudit.ZeroConcentratedDP.of_pure(collector.epsilon), view="report")
