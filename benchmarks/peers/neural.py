"""A neural estimate of the log likelihood ratio, as a score that competes with the auditor's own.

It needs PyTorch, which dpaudit does not: `pip install torch`.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar
from unittest.mock import patch

import numpy as np
import torch

from dpaudit.auditors.learning import contest
from dpaudit.auditors.learning.score_families import FAMILIES, Family
from dpaudit.auditors.outputs.column_words import PLAIN, Naming
from dpaudit.auditors.outputs.outputs import as_outputs
from peers.common import Rows

HIDDEN = (64, 64)
EPOCHS, PATIENCE = 40, 4
BATCH = 512
RATE = 3e-3
HELD_OUT = 0.15
MOST_COLUMNS = 256


@dataclass(frozen=True, slots=True)
class NeuralScore:
    """Logit of a network with two hidden layers, on columns set to equal spread and drawn in at the tails."""

    cost: ClassVar[int] = 9
    log_ratio: ClassVar[bool] = True

    rows: Rows
    centre: np.ndarray
    scale: np.ndarray
    network: Any

    def __call__(self, outputs) -> np.ndarray:
        with torch.inference_mode():
            return self.network(self.tensor(self.rows(as_outputs(outputs))))[:, 0].numpy().astype(float)

    def tensor(self, rows: np.ndarray) -> torch.Tensor:
        """Rows as the network takes them: linear near the middle, logarithmic far from it."""
        return torch.from_numpy(np.arcsinh((rows - self.centre) / self.scale).astype(np.float32))

    def describe(self, threshold: float, *, above: bool, naming: Naming = PLAIN) -> Any:
        return {"a neural estimate of the log-ratio": f"{'>=' if above else '<='} {threshold:.17g}"}

    def to_json(self) -> None:
        return None

    @classmethod
    def fit(cls, x, y) -> NeuralScore | None:
        """Train on four fifths of the samples, until the others gain no more."""
        x, y = as_outputs(x), as_outputs(y)
        rows = Rows.fit(x, y)
        if rows is None:
            return None
        sides = [rows(side) for side in (x, y)]
        if sides[0].shape[1] > MOST_COLUMNS:
            return None
        some = np.concatenate([side[:20_000] for side in sides])
        low, centre, high = np.quantile(some, [0.25, 0.5, 0.75], axis=0)
        spread = some.std(axis=0)
        scale = np.where(high > low, high - low, np.where(spread > 0, spread, 1.0))
        with torch.random.fork_rng():
            torch.manual_seed(0)
            torch.set_num_threads(1)
            made = cls(rows, centre, scale, _network(sides[0].shape[1]))
            data = made.tensor(np.concatenate(sides))
            labels = torch.from_numpy(np.repeat([1.0, 0.0], [len(x), len(y)]).astype(np.float32))
            _train(made.network, data, labels)
        return made


def _network(width):
    layers = []
    for size in HIDDEN:
        layers += [torch.nn.Linear(width, size), torch.nn.SiLU()]
        width = size
    return torch.nn.Sequential(*layers, torch.nn.Linear(width, 1))


def _train(network, data, labels):
    order = torch.randperm(len(data))
    held = int(HELD_OUT * len(data))
    check, learn = order[:held], order[held:]
    loss = torch.nn.BCEWithLogitsLoss()
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
    best, kept, waited = float("inf"), None, 0
    for _ in range(EPOCHS):
        network.train()
        for part in learn[torch.randperm(len(learn))].split(BATCH):
            optimizer.zero_grad()
            loss(network(data[part])[:, 0], labels[part]).backward()
            optimizer.step()
        schedule.step()
        network.eval()
        with torch.inference_mode():
            reached = float(loss(network(data[check])[:, 0], labels[check]))
        if reached < best - 1e-5:
            best, waited = reached, 0
            kept = {name: value.clone() for name, value in network.state_dict().items()}
        else:
            waited += 1
            if waited >= PATIENCE:
                break
    if kept is not None:
        network.load_state_dict(kept)


@contextmanager
def with_network():
    """Let the network compete in audits: it is fitted, judged and chosen by the same rule as the other scores."""

    network = Family(
        name="a network",
        # A few outcomes are counted; a network adds nothing.
        suits=lambda form: form.thorough and form.columns is not None,
        fit=lambda form, x, y: NeuralScore.fit(x, y),
        passes=lambda width: 100.0,
    )
    with patch.object(contest, "FAMILIES", (*FAMILIES, network)):
        yield
