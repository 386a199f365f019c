"""The auditor of jax-privacy, which takes the scores of canaries that were in a training and of those that were not.

What an attacker would score is the output of a mechanism, so the scores are trained on a fifth of the samples: logistic
regression on the columns. The other outputs of one input are the canaries that were in, those of the other the ones
that were not. Both directions are asked for (``one_sided=False``).
"""

from functools import partial

from calibration.interface import Mechanism, Tool
from calibration.tools.scored import sampled, scorer

TRAINING = 0.2


def _bound(mechanism: Mechanism, x, y, samples, confidence, seed, *, strategy) -> float:
    from jax_privacy import auditing

    made = {"all": auditing.Bonferroni, "split": partial(auditing.Split, seed=seed)}
    train = int(TRAINING * samples)
    sides = sampled(mechanism, x, y, samples, [seed, 31])
    score = scorer(*(side[:train] for side in sides))
    scores = [score(side[train:]) for side in sides]
    return float(
        auditing.CanaryScoreAuditor(*scores).epsilon_clopper_pearson(
            1 - confidence, mechanism.delta, one_sided=False, threshold_strategy=made[strategy]()
        )
    )


HOW = "Its own code. It takes scores: logistic regression on a fifth of the samples makes them of the outputs."
ALL_THRESHOLDS = Tool(
    name="jax-privacy",
    bound=partial(_bound, strategy="all"),
    how=f"{HOW} `epsilon_clopper_pearson` with its default, `Bonferroni`.",
    requires="jax_privacy",
)
SPLIT = Tool(
    name="jax-privacy, split",
    bound=partial(_bound, strategy="split"),
    how=f"{HOW} `epsilon_clopper_pearson` with `Split`: half of the scores choose the threshold.",
    requires="jax_privacy",
)
