"""How often audits refute a mechanism whose true epsilon is the detection limit that they state.

An audit that finds nothing says which epsilon it would have refuted with 95 % power. Here every mechanism is audited
against the claim for which that limit is the mechanism's true epsilon: the event is chosen, the claim is set by
bisection from the counts that the limit is worked out from, and the final sample decides. Nothing but the limit
depends on the claim, so that one audit serves for any.

Three rates are told apart. *Stated*: the limit is the true epsilon, and the audit that states it decides. *Fresh*: the
same claim, decided by an audit with another seed, which chooses its own event. *Event*: the limit is what the event
forces in truth, so that only the counts are tested. That is what the limit promises; where the first is low and the
last is not, only rarer outputs than those of the event show the true epsilon.
"""

import argparse
import math
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from suite import SUITES, cases
from suite.given import Given, given
from tables import aligned, markdown, versions

from dpaudit.auditors.blackbox.audit import sampler_of
from dpaudit.auditors.blackbox.choosing import choose_for_pair
from dpaudit.auditors.blackbox.pair import EventBound, bound_event
from dpaudit.auditors.blackbox.tasks import PairTask
from dpaudit.auditors.learning.counts import Choice
from dpaudit.auditors.outputs.outputs import Outputs
from dpaudit.auditors.sampling.budget import Budget
from dpaudit.auditors.sampling.streams import Streams
from dpaudit.claims.guarantees import ApproximateDP
from dpaudit.statistics import best_share, clopper_pearson, detection_limit

LIBRARIES = ("dpaudit", "numpy", "scipy", "scikit-learn")
POWER = 0.95
POOL, SMALL_POOL = 200_000, 50_000
"""Fresh outputs per input by which the chosen events are valued; the fewer where outputs are structured or wide."""

WIDE = 10

LEAST_AUDITS = 6
DIGITS = 1e-4
CLASSES = (
    (-math.inf, 0.02, "under 2 % of the truth"),
    (0.02, 0.1, "2 % to 10 %"),
    (0.1, math.inf, "10 % and more"),
)
COLUMNS = (
    "mechanism",
    "true epsilon",
    "audits",
    "claim",
    "shortfall",
    "refuted as stated",
    "95 % interval",
    "fresh",
    "event",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """One audit: its bound, and the event that has it."""

    choice: Choice
    bound: float
    alpha: float
    final: int
    forced: float
    blind: bool

    def limit(self, claim: float, delta: float) -> float:
        """Detection limit of that claim."""
        guarantee = ApproximateDP(claim, delta)
        choice = self.choice
        share = best_share(guarantee, choice.p_hits, choice.q_hits, choice.rows, alpha=self.alpha)
        rate, complement = choice.rates
        return detection_limit(guarantee, rate, self.final, complement=complement, alpha=self.alpha, share=share)

    def claim_for(self, limit: float, delta: float) -> float:
        """Largest claim with a limit of at most that; NaN where there is none.

        An audit that was blind to a planted difference states no limit.
        """
        if self.blind or not self.limit(0.0, delta) <= limit:
            return math.nan
        low, high = 0.0, limit
        while high - low > DIGITS * limit:
            middle = (low + high) / 2
            low, high = (middle, high) if self.limit(middle, delta) <= limit else (low, middle)
        return low


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """Audits of one row, with the claims for which they state the truth as their limit."""

    name: str
    truth: float
    audits: list[Audit]
    claims: np.ndarray
    event_claims: np.ndarray

    @property
    def bounds(self) -> np.ndarray:
        return np.array([audit.bound for audit in self.audits])

    @property
    def shortfall(self) -> float:
        """How far the chosen events fall short of the truth, on the average."""
        return self.truth - float(np.mean([audit.forced for audit in self.audits]))

    def _refuted(self, claims: np.ndarray, bounds: np.ndarray) -> tuple[int, int]:
        known = np.isfinite(claims)
        return int(np.count_nonzero(bounds[known] > claims[known])), int(np.count_nonzero(known))

    @property
    def stated(self) -> tuple[int, int]:
        """Refutations and audits, where an audit's own final sample decides."""
        return self._refuted(self.claims, self.bounds)

    @property
    def fresh(self) -> tuple[int, int]:
        """The same, where the audit of the next seed decides."""
        return self._refuted(self.claims, np.roll(self.bounds, -1))

    @property
    def event(self) -> tuple[int, int]:
        """The same, where the limit is what the event forces in truth."""
        return self._refuted(self.event_claims, self.bounds)


def audited(row: Given, samples: int, confidence: float, seed: int, pool) -> Audit:
    """Audit the pair of a row as `bound_pair` does, keeping what the limit is worked out from."""
    mechanism, delta = row.mechanism, row.mechanism.delta
    guarantee = ApproximateDP(0.0, delta)
    budget = Budget(samples=samples, confidence=confidence)
    sampler = sampler_of(mechanism, budget, Streams(seed, ("detection", mechanism.name)))
    task = PairTask(guarantee=guarantee, samples=samples, alpha=1 - confidence)
    selection = choose_for_pair(sampler, *row.pair, task)
    bounds: list[tuple[EventBound, Choice, float]] = []
    for choice, share in zip(selection.choices, selection.shares, strict=True):
        alpha = task.alpha * share
        found = bound_event(sampler, *row.pair, choice=choice, guarantee=guarantee, samples=task.final, alpha=alpha)
        bounds.append((found, choice, alpha))
    found, choice, alpha = max(bounds, key=lambda each: each[0].value)
    p, q = (float(np.mean(choice.event.contains(side))) for side in pool)
    if choice.reverse:
        p, q = q, p
    forced = float(guarantee.forces(p, max(q, 0.5 / len(pool[0]))))
    return Audit(
        choice=choice,
        bound=found.value,
        alpha=alpha,
        final=task.final,
        forced=forced,
        blind=selection.blind and (selection.identified or found.value <= 0),
    )


def power_of(name: str, samples: int, confidence: float, seeds: int, seconds: float) -> Power:
    """Audit a row with so many seeds, fewer where that takes longer than it may."""
    row = given(name, samples, confidence)
    delta = row.mechanism.delta
    budget = Budget(samples=samples, confidence=confidence)
    pool_sampler = sampler_of(row.mechanism, budget, Streams(0, ("detection", "pool", name))).about(*row.pair)
    first = np.asarray(pool_sampler.draw(row.pair[0], 1, "form"))
    size = POOL if first.dtype.kind in "biuf" and first.size <= WIDE else SMALL_POOL
    pool = [Outputs(pool_sampler.draw(data, size, side)) for side, data in enumerate(row.pair)]
    audits: list[Audit] = []
    until = time.process_time() + seconds
    while len(audits) < seeds and (time.process_time() < until or len(audits) < LEAST_AUDITS):
        audits.append(audited(row, samples, confidence, len(audits), pool))
    return Power(
        name=name,
        truth=row.truth,
        audits=audits,
        claims=np.array([audit.claim_for(row.truth, delta) for audit in audits]),
        event_claims=np.array([audit.claim_for(audit.forced, delta) for audit in audits]),
    )


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", choices=list(SUITES), nargs="+", default=list(SUITES), help="(default: all)")
    parser.add_argument("--samples", type=int, default=20_000, help="per input (default: 20,000)")
    parser.add_argument("--confidence", type=float, default=0.9)
    parser.add_argument("--seeds", type=int, default=60, help="audits of a row (default: 60)")
    parser.add_argument("--seconds", type=float, default=1.5, help="processor time of a row's audits, about, at most")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these cases alone")
    parser.add_argument("--write", metavar="FILE", help="write the tables as Markdown")
    options = parser.parse_args(arguments)
    found: dict[str, list[Power]] = {}
    for suite in options.suite:
        for name, case in cases(suite).items():
            if (options.only and name not in options.only) or not math.isfinite(case.truth()):
                continue
            power = power_of(name, options.samples, options.confidence, options.seeds, options.seconds)
            found.setdefault(suite, []).append(power)
            print("  ".join(_line(power)), file=sys.stderr, flush=True)
    if not found:
        print("no case of a finite epsilon has that name", file=sys.stderr)
        return 2
    tables = {suite: [COLUMNS, *map(_line, powers)] for suite, powers in found.items()}
    pooled = [
        ("suite", "audits", "refuted as stated", "95 % interval", "fresh", "event", "95 % interval", "rows below"),
        *(_pooled(suite, powers) for suite, powers in found.items()),
        _pooled("all", [power for powers in found.values() for power in powers]),
    ]
    classes = by_shortfall([power for powers in found.values() for power in powers])
    for table in (*tables.values(), pooled, classes):
        print("\n".join(aligned(table)), end="\n\n")
    if options.write:
        Path(options.write).write_text(_page(tables, pooled, classes, options), encoding="utf-8")
    return 0


def _line(power: Power) -> tuple[str, ...]:
    known = power.claims[np.isfinite(power.claims)]
    claim = f"{np.median(known):.4g}" if len(known) else "none"
    return (
        power.name,
        f"{power.truth:.4g}",
        str(power.stated[1]),
        claim,
        f"{power.shortfall:.3g}",
        _rate(*power.stated),
        _interval(*power.stated),
        _rate(*power.fresh),
        _rate(*power.event),
    )


def _pooled(name: str, powers: list[Power]) -> tuple[str, ...]:
    stated, fresh, event = (
        tuple(np.sum([getattr(power, what) for power in powers], axis=0).tolist())
        for what in ("stated", "fresh", "event")
    )
    below = sum(_is_below(*power.stated) for power in powers)
    return (
        name,
        str(stated[1]),
        _rate(*stated),
        _interval(*stated),
        _rate(*fresh),
        _rate(*event),
        _interval(*event),
        f"{below} of {len(powers)}",
    )


def by_shortfall(powers) -> list[tuple[str, ...]]:
    """Lines for rows alike in the part of the truth by which their events fall short of it."""
    lines = [("shortfall", "rows", "audits", "refuted as stated", "95 % interval", "fresh")]
    for low, high, name in CLASSES:
        rows = [power for power in powers if power.stated[1] and low <= power.shortfall / power.truth < high]
        if rows:
            stated, fresh = (
                tuple(np.sum([getattr(power, what) for power in rows], axis=0).tolist()) for what in ("stated", "fresh")
            )
            lines.append((name, str(len(rows)), str(stated[1]), _rate(*stated), _interval(*stated), _rate(*fresh)))
    return lines


def _is_below(hits: int, trials: int) -> bool:
    return trials > 0 and clopper_pearson(hits, trials, 0.95)[1] < POWER


def _rate(hits: int, trials: int) -> str:
    return f"{hits / trials:.1%}{' !' if _is_below(hits, trials) else ''}" if trials else "none"


def _interval(hits: int, trials: int) -> str:
    if not trials:
        return ""
    low, high = clopper_pearson(hits, trials, 0.95)
    return f"{low:.1%} to {high:.1%}"


def _page(tables, pooled, classes, options) -> str:
    parts = [
        "# The power of the detection limit",
        "",
        f"`python benchmarks/detection.py --samples {options.samples} --confidence {options.confidence} "
        f"--seeds {options.seeds} --seconds {options.seconds:g}` with {versions(LIBRARIES)}",
        "",
        *(line.strip() for line in __doc__.splitlines()[2:]),
        "",
        f"*Shortfall* is the truth less what the chosen event forces, on the average. `!` marks a rate whose 95 % "
        f"interval ends below {POWER:.0%}. Audits for which no claim has such a limit are left out.",
        "",
        *markdown(pooled),
        "",
        *markdown(classes),
    ]
    for suite, table in tables.items():
        parts += ["", f"## The {suite} suite", "", *markdown(table)]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.exit(main())
