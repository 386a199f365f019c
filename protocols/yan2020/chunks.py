"""Pieces of a run that fit in bounded memory."""

from collections.abc import Iterator

import numpy as np

AGENT_CHUNK = 1 << 17
"""Agents, of all runs together, that are simulated at once."""

ANSWER_CHUNK = 1 << 21
"""Answers that are tallied at once."""


def batches(runs: int, agents: int) -> list[int]:
    """Split runs of that many agents each: the number of runs in every batch."""
    batch = max(1, AGENT_CHUNK // agents)
    return [min(batch, runs - start) for start in range(0, runs, batch)]


def agent_counts(agents: int) -> Iterator[int]:
    """Split the agents of one profile: the number of agents in every chunk."""
    for start in range(0, agents, AGENT_CHUNK):
        yield min(AGENT_CHUNK, agents - start)


def parts(chunk: np.ndarray, queries: int) -> Iterator[np.ndarray]:
    """Split the agents of a chunk (runs, agents, m) so that their answers fit in bounded memory."""
    runs, agents, _ = chunk.shape
    step = max(1, ANSWER_CHUNK // (runs * queries)) if runs else agents
    for start in range(0, agents, step):
        yield chunk[:, start : start + step]
