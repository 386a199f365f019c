"""DP-Sniper: a classifier of the inputs, and the event of a fixed probability that it thinks decisive.

Bichsel, Steffen, Bogunovic, Vechev, "DP-Sniper: black-box discovery of differential privacy violations using
classifiers", S&P 2021, Algorithms 1 and 2. As in the paper and its authors' code: c = 0.01; logistic regression with
a squared penalty of 0.001, or a network with hidden layers of 10 and 5 and one of 0.0001; columns scaled to unit
variance; probabilities rounded to three decimals; a threshold and a probability for ties such that the event has
probability c on the input where it is rarer; both directions; two Clopper-Pearson bounds at half the error each; flags
for the special answers of sparse vectors.

Not as published: the paper takes 10.7 million samples per input each for training, the threshold and the choice of the
direction, and 200 million for the bound. Here a tenth, a twentieth and a twentieth of the samples go to the first
three, and four fifths to the bound. The logistic regression is solved to its optimum, and the network until a
held-out tenth of the samples gains no more, where the paper stops after ten steps on each of 107 batches. Where the
claim has a delta, which the paper leaves out, it is taken off the lower bound of the event's probability.
"""

import math
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from suite.given import Given

from peers.common import Rows, Said, Source, bound_of

C = 0.01
LOGISTIC_PENALTY, NETWORK_PENALTY = 1e-3, 1e-4
BATCH = 1000
FLAGS = {
    "sparse-vector-1": (-1,),
    "sparse-vector-2": (-1,),
    "sparse-vector-3": (-1000, -2000),
    "sparse-vector-4": (-1,),
}


def logistic(row: Given, samples: int, confidence: float, seed: int) -> Said | None:
    """DP-Sniper with logistic regression."""

    def model(size):
        return LogisticRegression(C=1 / (2 * LOGISTIC_PENALTY * size), max_iter=1000)

    return _attack(row, samples, confidence, seed, model)


def network(row: Given, samples: int, confidence: float, seed: int) -> Said | None:
    """DP-Sniper with a small network."""

    def model(size):
        return MLPClassifier(
            (10, 5),
            alpha=2 * NETWORK_PENALTY * BATCH,
            batch_size=min(BATCH, size // 2),
            learning_rate_init=0.01,
            early_stopping=True,
            max_iter=100,
            random_state=seed,
        )

    return _attack(row, samples, confidence, seed, model)


def _attack(row, samples, confidence, seed, model):
    source = Source(row, seed)
    train, few = samples // 10, samples // 20
    final = samples - train - 2 * few
    x, y = source.both(train, "train")
    rows = Rows.fit(x, y, FLAGS.get(row.mechanism.name, ()))
    if rows is None:
        return None
    data = np.concatenate([rows(x), rows(y)])
    scaler = StandardScaler().fit(data)
    classifier = model(len(data))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        classifier.fit(scaler.transform(data), np.repeat([1, 0], [len(x), len(y)]))

    def of_first(outputs):
        return np.around(classifier.predict_proba(scaler.transform(rows(outputs)))[:, 1], 3)

    rng = np.random.default_rng([seed, 21])
    found = []
    thresholds, checks = ([of_first(side) for side in source.both(few, what)] for what in ("threshold", "check"))
    for reverse in (False, True):
        event = _event(_turned(thresholds[0 if reverse else 1], reverse))
        hits = [int(np.count_nonzero(_inside(_turned(side, reverse), *event, rng))) for side in checks]
        p, q = reversed(hits) if reverse else hits
        found.append((math.log(max(p, 0.5)) - math.log(max(q, 0.5)), reverse, event))
    _, reverse, event = max(found)
    hits = [
        int(np.count_nonzero(_inside(_turned(of_first(side), reverse), *event, rng)))
        for side in source.both(final, "final")
    ]
    p, q = reversed(hits) if reverse else hits
    return Said(samples=samples, bound=bound_of(p, q, final, confidence, row.mechanism.delta))


def _turned(probabilities, reverse):
    return 1 - probabilities if reverse else probabilities


def _event(probabilities):
    """Threshold and probability for ties of the event that has probability `C`."""
    ordered = np.sort(probabilities)[::-1]
    target = C * len(ordered)
    threshold = ordered[math.floor(target)]
    above, equal = np.count_nonzero(ordered > threshold), np.count_nonzero(ordered == threshold)
    return threshold, (target - above) / equal


def _inside(probabilities, threshold, ties, rng):
    return (probabilities > threshold) | ((probabilities == threshold) & (rng.random(len(probabilities)) < ties))
