"""The grey-box auditor: a mechanism runs on two neighbouring inputs with equal noise, whose calls are recorded."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpaudit.auditors.noise.laws import (
    MOST_COLUMNS,
    Affine,
    Compared,
    MoreRunsError,
    NotAffineError,
    affine,
    compared,
    distance_of,
    forced,
    of_calls,
    required_factor,
)
from dpaudit.auditors.noise.runs import Run, change, run
from dpaudit.auditors.sampling.streams import Streams
from dpaudit.claims.evidence import Counterexample, Evidence, Interval, Remedy
from dpaudit.claims.guarantees import ApproximateDP
from dpaudit.claims.inputs import Pair, short_repr
from dpaudit.claims.metrics import plain_value, value_key
from dpaudit.claims.neighbouring import Neighbouring
from dpaudit.claims.noise import NoiseClaim
from dpaudit.claims.verdicts import Verdict
from dpaudit.errors import CheckError
from dpaudit.mechanism import Mechanism
from dpaudit.sources.noise.numpy_noise import recording_generator
from dpaudit.sources.noise.patches import patched
from dpaudit.sources.noise.recorder import NoiseCall, Replay

DEFAULT_PAIRS = 200

_RUNS = ((0, 0.0), (1, 1.0), (2, 1.0), (3, 1.0), (4, 30.0), (4, -30.0))
"""Seed and factor of the noise of the runs on one input: none, as declared, and so large that branches show."""
_CONFIRMATIONS = tuple((10 + i, (1.0, 3.0, -3.0, 30.0, -30.0)[i % 5]) for i in range(20))
"""Further runs, which have to fit as well, before a claim is refuted by how outputs depend on the noise."""
_DRAWN, _FEWEST_DRAWN, _DRAWN_SECONDS = 200, 20, 0.5
"""Further runs with noise as declared before a pair is said to keep a claim, the fewest of a claim, and their time."""
_DRAWN_SEED = 10_000
_OTHERWISE = "the output depends on the data in other ways than by what the calls return"
_ROUNDING = 1e-9
_SEED = 1 << 20
_MORE = 100
_EXPLAINED = 50
"""Changes beyond the declared sensitivity that other calls explain, after which no more of a pair are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Broken:
    """A pair that breaks the claim, with what is larger than claimed."""

    pair: Pair
    call: NoiseCall | None
    name: str
    quantity: str
    measured: float
    claimed: float
    reason: str = ""
    details: tuple[tuple[str, float], ...] = ()
    value: Any = None
    other_value: Any = None

    @property
    def key(self) -> tuple[float, float]:
        """What violations sort by: the excess, then the change."""
        ratio = self.measured / self.claimed if self.claimed else math.inf
        moved = dict(self.details).get("change", self.measured)
        return ratio, -1.0 if math.isinf(moved) and self.value is None else moved


def audit_noise(
    target: Mechanism, claim: NoiseClaim, *, pairs: int | None, deadline: float | None, streams: Streams
) -> Evidence:
    """Compare what noise is added to with the noise, on neighbouring inputs.

    Parameters
    ----------
    target
        The mechanism; what the claim leaves out is taken from it.
    claim
        The claim.
    pairs
        Most pairs to look at; None for 200.
    deadline
        Time since the epoch at which the audit ends with what it has; None for never.
    streams
        Random streams.

    Returns
    -------
    Evidence
        ``refuted`` with the first pair that breaks the claim, the call and the numbers; ``consistent`` where every pair
        could be judged and keeps the claim; ``inconclusive`` otherwise.

    Raises
    ------
    CheckError
        There is no pair, or the mechanism raises on all of them.

    Notes
    -----
    **Guarantee.** A change of a value beyond the declared sensitivity is computed, not estimated, for equal results of
    all calls before. A guarantee is refuted from the laws of what is released, which runs with prescribed noise show:
    numbers that are affine in the noise, at all of them. Rounding is counted in favour of the claim.
    **Checked against** mechanisms whose privacy is known, and reports of the libraries' maintainers.

    References
    ----------
    Cebere, Erb, Desfontaines, Bellet, Fitzsimons, "Privacy in theory, bugs in practice: grey-box auditing of
    differential privacy libraries", 2026, for the recording of calls and their replay on the neighbour.
    """
    neighbouring = claim.neighbours if claim.neighbours is not None else target.neighbours()
    if not isinstance(neighbouring, Neighbouring):
        raise CheckError(f"{claim.id}: there are no neighbouring inputs; give `neighbours`")
    most = DEFAULT_PAIRS if pairs is None else pairs
    audit = _Audit(claim, _function(target, claim), streams, deadline)
    late = False
    with suppress(Exception):
        # What the mechanism imports when it first runs is loaded before its functions are replaced.
        audit.mechanism(next(iter(neighbouring))[0])
    with patched(claim.functions):
        for pair in neighbouring:
            if audit.count >= most:
                break
            if deadline is not None and time.time() >= deadline:
                late = True
                break
            try:
                audit.look_at(pair)
            except _LateError:
                late = True
                break
            if audit.broken is not None:
                break
    if not audit.ran and not late:
        raise CheckError(f"{claim.id}: no pair could be run{f': {audit.raised}' if audit.raised else ''}")
    return audit.evidence(claim.scope or neighbouring.scope, late)


def _function(target: Mechanism, claim: NoiseClaim) -> Callable[[Any], Any]:
    if claim.mechanism is not None:
        return claim.mechanism

    def once(data: Any) -> Any:
        return target.sample(data, 1, recording_generator(_SEED))[0]

    return once


class _LateError(Exception):
    """The time is over."""


class _Audit:
    """What was found on the pairs so far."""

    def __init__(
        self, claim: NoiseClaim, mechanism: Callable[[Any], Any], streams: Streams, deadline: float | None
    ) -> None:
        self.claim, self.mechanism, self.deadline = claim, mechanism, deadline
        self._seeded = ""
        self._further, self._further_time = 0, 0.0
        self._seed = int(streams.generator("noise").integers(2**31))
        self.count, self.ran, self.raised = 0, False, ""
        self._calls = 0
        self.broken: _Broken | None = None
        self.undecided = ""
        self.calls: dict[str, None] = {}
        self.shares: list[float] = []
        self.forced: list[tuple[float, float]] = []

    def look_at(self, pair: Pair) -> None:
        """Run the mechanism on a pair, and judge what is seen."""
        self._calls = 0
        first = self._run(pair[0], 1)
        if first.raised:
            self._raised(pair[0], first)
            return
        self.ran, self._calls = True, len(first.calls)
        again = self._run(pair[0], 1)
        frozen = self._run_with(pair[1], Replay(seed=self._seed + 1, returns=first.calls))
        if frozen.raised:
            self._raised(pair[1], frozen)
            return
        self.count += 1
        self.calls |= dict.fromkeys(f"{each.function} at {each.place}" for each in first.calls)
        if not first.same_output(again) or not _same_calls(first, again):
            self._cannot_tell("two runs on one input with equal noise differ: there is randomness that is not recorded")
            return
        self._refuse_bad_sensitivities([*first.calls, *frozen.calls])
        declared = self._sensitivities(pair, first, frozen)
        if self.broken is not None:
            return
        if self._seeded:
            self._cannot_tell(f"the noise may be no noise: a generator is given a seed or a state, {self._seeded}")
        elif self.claim.guarantee is not None:
            self._guarantee(pair, first, frozen)
        elif not declared:
            self._cannot_tell(
                "no call declares a sensitivity; give `epsilon` or `guarantee`, or name the function that does"
                if first.calls
                else "no call that draws noise was recorded; name the function that does in `functions`"
            )
        elif frozen.diverged is not None:
            self._cannot_tell(_divergence(first, frozen))

    def _run(self, data: Any, place: int) -> Run:
        seed, factor = _RUNS[place] if place < len(_RUNS) else (_MORE + place, 1.0)
        return self._with(data, seed, factor)

    def _with(self, data: Any, seed: int, factor: float) -> Run:
        most = 2 * self._calls + _MORE if self._calls else 100_000
        return self._run_with(data, Replay(seed=self._seed + seed, factor=factor, most=most))

    def _run_with(self, data: Any, replay: Replay) -> Run:
        if self.deadline is not None and time.time() >= self.deadline:
            raise _LateError
        found = run(self.mechanism, data, replay)
        if found.seeded and not self._seeded:
            self._seeded = found.seeded[0]
        return found

    def _raised(self, data: Any, found: Run) -> None:
        self.raised = f"it {found.raised} on {short_repr(data)}"
        self._cannot_tell(f"{self.raised}; whether it raises on one of two neighbours is for a privacy claim to say")

    def _cannot_tell(self, why: str) -> None:
        self.undecided = self.undecided or why

    # Declared sensitivities.

    def _sensitivities(self, pair: Pair, first: Run, frozen: Run) -> bool:
        """Hold the change of what is noised against what the calls declare; whether any does."""
        declared, explained = False, 0
        for place, (a, b) in enumerate(zip(first.calls, frozen.calls, strict=False)):
            if frozen.diverged is not None and place >= frozen.diverged:
                break
            if a.sensitivity is None or b.sensitivity is None:
                continue
            declared = True
            if a.before != b.before:
                self._cannot_tell(
                    f"other random numbers differ between the inputs before {a.place}: "
                    f"{next(iter([*first.others, *frozen.others]), '')}"
                )
                break
            moved = self._moved(a, b)
            promised = _promised(a, b)
            if moved > promised and self._is_another_part(a, b, first, frozen):
                self._cannot_tell(
                    f"which calls are made at {a.place} may depend on the data: what is noised there on one input is "
                    "within the declared sensitivity of what another call has there on the other, or of nothing"
                )
                explained += 1
                if explained == _EXPLAINED:
                    break
                continue
            self.shares.append(moved / promised if promised else math.inf if moved else 0.0)
            if moved > promised:
                self._found(self._beyond_sensitivity(pair, a, b, moved))
        return declared

    def _is_another_part(self, a: NoiseCall, b: NoiseCall, first: Run, frozen: Run) -> bool:
        """Whether two calls may be about different parts of the data, of which each keeps the declared sensitivity.

        A mechanism that noises one group after the other at one place, and leaves out empty ones, makes its calls for
        other groups on the neighbour; one that noises a vector of the groups that occur has other groups in it.
        """
        if a.place != b.place:
            return False
        if self._rearranged(a, b):
            return True
        here, there = ([each for each in run.calls if each.place == a.place] for run in (first, frozen))
        if len(here) == len(there) == 1:
            return False
        return all(
            self._near(one, replace(one, value=_nothing(one.value))) or any(self._near(one, each) for each in others)
            for one, others in ((a, there), (b, here))
        )

    def _rearranged(self, a: NoiseCall, b: NoiseCall) -> bool:
        """Whether the entries of two vectors may be for other parts: they are more, or come near if sorted."""
        try:
            first, second = (np.asarray(each.value, dtype=float) for each in (a, b))
        except (TypeError, ValueError):
            return False
        if first.shape != second.shape:
            return True
        return first.ndim == 1 and self._near(replace(a, value=np.sort(first)), replace(b, value=np.sort(second)))

    def _near(self, a: NoiseCall, b: NoiseCall) -> bool:
        if b.value is None or b.sensitivity is None:
            return False
        with suppress(CheckError):
            return self._moved(a, b) <= _promised(a, b)
        return False

    def _refuse_bad_sensitivities(self, calls: Sequence[NoiseCall]) -> None:
        for each in calls:
            if each.sensitivity is not None and not each.sensitivity >= 0:
                described = next((told for told in self.claim.functions if told.name == each.function), None)
                argument = described.sensitivity if described is not None else "sensitivity"
                named = f" {argument!r}" if isinstance(argument, str) else ""
                raise CheckError(
                    f"{self.claim.id}: {each.function} at {each.place} declares the sensitivity{named} as "
                    f"{each.sensitivity:g}; it has to be a number that is at least 0"
                )

    def _moved(self, a: NoiseCall, b: NoiseCall) -> float:
        """Distance of the values of a call on the two inputs."""
        try:
            moved = change(distance_of(a.metric), a.value, b.value)
        except Exception as error:
            raise CheckError(
                f"{self.claim.id}: what is noised at {a.place} cannot be compared: {short_repr(a.value)} and "
                f"{short_repr(b.value)} ({error})"
            ) from error
        if not moved >= 0:
            name = a.metric if isinstance(a.metric, str) else getattr(a.metric, "__name__", "a function")
            raise CheckError(
                f"{self.claim.id}: the `metric` of {a.function}, {name}, says that {short_repr(a.value)} and "
                f"{short_repr(b.value)} at {a.place} are {moved:g} apart; a distance has to be at least 0"
            )
        return moved

    def _beyond_sensitivity(self, pair: Pair, a: NoiseCall, b: NoiseCall, moved: float) -> _Broken:
        assert a.sensitivity is not None
        assert b.sensitivity is not None
        declared = min(a.sensitivity, b.sensitivity)
        details = [("change", moved), ("declared sensitivity", declared)]
        if a.scale is not None:
            scale = float(np.max(a.scale, initial=0.0))
            details.append(("declared scale", scale))
            if math.isfinite(moved) and a.sensitivity == declared > 0:
                details.append(("required scale", scale * moved / a.sensitivity))
        if a.budget is not None and a.sensitivity == 0 and "laplace" in a.function.lower() and a.budget[0] > 0:
            details += [] if a.scale is not None else [("declared scale", 0.0)]
            details.append(("required scale", moved / a.budget[0]))
        return _Broken(
            pair=pair,
            call=a,
            name="change",
            quantity=f"change of what is noised at {a.place}",
            measured=moved,
            claimed=declared,
            details=tuple(details),
            value=a.value,
            other_value=b.value,
        )

    # The guarantee.

    def _guarantee(self, pair: Pair, first: Run, frozen: Run) -> None:
        """Decide the guarantee by what is released, or by what the calls return."""
        by_calls = self._by_calls(pair, first, frozen)
        calls_released = self.claim.released == "noised values"
        why = []
        for by_output in (False, True) if calls_released else (True, False):
            found = self._by_output(pair, first) if by_output else by_calls
            if found.undecided:
                why.append(found.undecided)
                continue
            try:
                breaks, value = forced(found, self._claimed, at_least=True)
            except CheckError as error:
                why.append(str(error))
                continue
            if not breaks and found.partial:
                why.append(found.partial)
                continue
            unfit = "" if breaks else self._unseen(pair, found, by_output)
            if unfit:
                why.append(unfit)
                continue
            if not breaks:
                self._kept(found, at_most=found.upper or not (by_output or calls_released))
                return
            if by_output and not found.upper:
                unfit, confirmed = self._confirmed(pair)
                if confirmed is not None:
                    found = confirmed
                    try:
                        breaks = forced(found, self._claimed, at_least=True)[0]
                    except CheckError as error:
                        why.append(str(error))
                        continue
                    if not breaks:
                        unfit = "what the pair takes beyond the claim is not more than how far the output is rounded"
                if not unfit:
                    self._found(self._beyond_guarantee(pair, first, found))
                    return
                why.append(unfit)
                continue
            if calls_released:
                self._found(self._beyond_guarantee(pair, first, found))
                return
            why.append(
                f"what the calls return takes {self._claimed.forced} up to {value:g}, and the output need not show all "
                "of it; if it is released, or paid for, say released='noised values'"
            )
        spent = self._declared_budget(first, frozen) if isinstance(self._claimed, ApproximateDP) else None
        if spent is not None:
            if self._claimed.meets(spent[0]) and self._claimed.meets(spent[1], "delta"):
                self.forced.append((0.0, spent[0]))
                return
            why = [f"the calls declare to spend epsilon {spent[0]:g} and delta {spent[1]:g} on what changes"]
        self._cannot_tell("; ".join(dict.fromkeys(why)))

    @property
    def _claimed(self) -> Any:
        return self.claim.guarantee

    def _by_output(self, pair: Pair, first: Run) -> Compared:
        """Compare the laws of the outputs."""
        if first.others:
            return Compared(undecided=f"other random numbers were drawn: {first.others[0]}")
        mixed = next((each for each in first.calls if each.noise is None), None)
        if mixed is not None:
            return Compared(undecided=f"{mixed.function} at {mixed.place} does not simply add noise")
        try:
            x, y = (self._affine(data) for data in pair)
        except NotAffineError as error:
            return Compared(undecided=str(error))
        return _compared(x, y)

    def _drawn_otherwise(self, pair: Pair) -> str:
        """Why the outputs depend on drawn noise in another way than in a few runs; empty where they do not."""
        further: tuple[list[Run], list[Run]] = ([], [])
        for seed in self._seeds():
            for data, runs in zip(pair, further, strict=True):
                runs.append(self._with(data, seed, 1.0))
        try:
            for data, runs in zip(pair, further, strict=True):
                if runs:
                    self._affine(data, runs)
        except NotAffineError as error:
            return str(error)
        return ""

    def _kept(self, found: Compared, *, at_most: bool) -> None:
        """Note the value that a pair takes, or takes at most; rounding may take it beyond the claim."""
        breaks, value = forced(found, self._claimed, at_least=False)
        least = 0.0 if at_most else forced(found, self._claimed, at_least=True)[1] if breaks else value
        self.forced.append((least, value))

    def _confirmed(self, pair: Pair) -> tuple[str, Compared | None]:
        """What further runs say: why they do not confirm how the outputs depend on the noise, or what they show."""
        try:
            x, y = (self._affine(data, [self._with(data, *each) for each in _CONFIRMATIONS]) for data in pair)
        except NotAffineError as error:
            return str(error), None
        return "", _compared(x, y)

    def _unseen(self, pair: Pair, found: Compared, by_output: bool) -> str:
        """Why a pair that keeps the guarantee in a few runs need not keep it in others; empty where nothing hides."""
        if by_output:
            unfit = self._confirmed(pair)[0] if found.hidden else ""
            return unfit or self._drawn_otherwise(pair)
        for each in (*_CONFIRMATIONS[::2], *((seed, 1.0) for seed in self._seeds())):
            x = self._with(pair[0], *each)
            y = self._run_with(pair[1], Replay(seed=self._seed + each[0], factor=each[1], returns=x.calls))
            if y.diverged is not None:
                return _divergence(x, y)
            if not x.same_output(y):
                return _OTHERWISE
        return ""

    def _seeds(self) -> Iterator[int]:
        """Seeds of further runs with noise as declared, as many as the time of a claim allows."""
        for i in range(_DRAWN):
            if self._further_time > _DRAWN_SECONDS and self._further >= _FEWEST_DRAWN:
                return
            clock = time.perf_counter()
            yield _DRAWN_SEED + i
            self._further += 1
            self._further_time += time.perf_counter() - clock

    def _affine(self, data: Any, further: Sequence[Run] = ()) -> Affine:
        runs = [*(self._run(data, place) for place in range(len(_RUNS))), *further]
        other = next((each.others[0] for each in runs if each.others), "")
        if other:
            raise NotAffineError(f"other random numbers were drawn: {other}")
        try:
            return affine(runs)
        except MoreRunsError:
            runs += [self._run(data, place) for place in range(len(_RUNS), MOST_COLUMNS + len(_RUNS))]
            return affine(runs)

    def _by_calls(self, pair: Pair, first: Run, frozen: Run) -> Compared:
        """Compare the laws of what the calls return, which bound what the output shows where they alone decide it."""
        if frozen.diverged is not None:
            return Compared(undecided=_divergence(first, frozen))
        if first.others or frozen.others:
            return Compared(undecided=f"other random numbers were drawn: {[*first.others, *frozen.others][0]}")
        found = of_calls(first.calls, frozen.calls)
        if frozen.opaque:
            found.partial = f"the output holds {frozen.opaque}, which cannot be looked into"
        elif not first.same_output(frozen):
            found.partial = _OTHERWISE
        elif first.calls and not any(np.any(each.value) for each in first.calls if each.noise is not None):
            found.partial = "no call shows what it adds noise to, which may be added elsewhere"
        if self.claim.released == "noised values" and found.shifts and len(first.calls) > 1:
            for place in (2, 3):
                x = self._run(pair[0], place)
                y = self._run_with(pair[1], Replay(seed=self._seed + place, returns=x.calls))
                if y.diverged is not None or not _same_shifts(found, of_calls(x.calls, y.calls)):
                    return Compared(undecided="what is noised depends on the noise before it")
        return found

    def _declared_budget(self, first: Run, frozen: Run) -> tuple[float, float] | None:
        """Epsilon and delta that the calls declare to spend on what changes; None where they do not say."""
        if frozen.diverged is not None or not first.calls or first.others or frozen.others:
            return None
        if not first.same_output(frozen) or first.opaque:
            return None
        epsilon = delta = 0.0
        for a, b in zip(first.calls, frozen.calls, strict=True):
            if a.budget is None or a.budget != b.budget or a.sensitivity is None or a.sensitivity != b.sensitivity:
                return None
            moved = self._moved(a, b)
            if moved > a.sensitivity * (1 + _ROUNDING):
                return None
            if moved:
                epsilon, delta = epsilon + a.budget[0], delta + a.budget[1]
        return epsilon, delta

    def _beyond_guarantee(self, pair: Pair, first: Run, found: Compared) -> _Broken:
        name, (_, value) = self._claimed.forced, forced(found, self._claimed, at_least=False)
        worst = max(found.shifts, key=lambda each: each.change / each.scale, default=None)
        call = found.call if found.disjoint or worst is None else worst.call
        call = first.calls[0] if call is None and len(first.calls) == 1 else call
        details: list[tuple[str, float]] = []
        if found.disjoint or worst is None:
            if call is not None and call.scale is not None and math.isfinite(found.change):
                details = [("change", found.change), ("declared scale", float(np.max(call.scale, initial=0.0)))]
                if call.family == "laplace" and name == "epsilon" and self._claimed.claimed > 0:
                    details.append(("required scale", found.change / self._claimed.claimed))
        else:
            details = [("change", worst.change), ("declared scale", worst.scale)]
            if not worst.same_scale:
                details.append(("scale on the neighbour", worst.other_scale))
            factor = required_factor(found, self._claimed)
            if factor is not None:
                details.append(("required scale", worst.scale * factor))
        where = f", noised at {call.place}" if call is not None else ""
        # Of noise of two scales, the farthest event that is looked at bounds it from below.
        least = " at least" if worst is not None and not worst.same_scale else ""
        return _Broken(
            pair=pair,
            call=call,
            name=name,
            quantity=f"{name} that the pair takes{least}{where}",
            measured=value,
            claimed=self._claimed.claimed,
            reason=found.disjoint,
            details=tuple(details),
        )

    def _found(self, broken: _Broken) -> None:
        if self.broken is None or broken.key > self.broken.key:
            self.broken = broken

    # What is handed back.

    def evidence(self, scope: str, late: bool) -> Evidence:
        """Evidence from all pairs."""
        words = f"{scope}; {self.count} pair{'s' if self.count != 1 else ''} of inputs"
        words += "" if self.claim.guarantee is None else f"; {self.claim.guarantee}"
        measured = {}
        if self.shares and self.claim.guarantee is None:
            measured["share_of_sensitivity"] = Interval.exact(max(self.shares))
        if self.forced:
            measured[self._claimed.forced] = Interval(
                lower=max(least for least, _ in self.forced), upper=max(most for _, most in self.forced)
            )
        base = Evidence(verdict=Verdict.CONSISTENT, scope=words, method="grey-box", measured=measured)
        if self.broken is not None:
            return replace(
                base,
                verdict=Verdict.REFUTED,
                measured={self.broken.name: Interval.exact(self.broken.measured)},
                witness=_witness(self.broken),
                note=self.broken.reason,
                samples=self.count,
            )
        if self._seeded:
            self._cannot_tell(f"the noise may be no noise: a generator is given a seed or a state, {self._seeded}")
        if late or self.undecided:
            note = self.undecided or "the time was over before all pairs had been run"
            remedy = Remedy.SAMPLING if self.undecided else Remedy.TIME
            return replace(
                base, verdict=Verdict.INCONCLUSIVE, measured={}, note=note, samples=self.count, remedy=remedy
            )
        seen = "; ".join(list(self.calls)[:5])
        more = "" if len(self.calls) <= 5 else f" and {len(self.calls) - 5} others"
        return replace(base, note=f"noise of {seen}{more}" if seen else "no noise, and no change", samples=self.count)


def _compared(x: Affine, y: Affine) -> Compared:
    found = compared(x, y)
    found.hidden = x.hidden or y.hidden
    return found


def _nothing(value: Any) -> Any:
    """What stands for a part of the data that is not there; None where it is no number."""
    try:
        return np.zeros_like(np.asarray(value, dtype=float))
    except (TypeError, ValueError):
        return None


def _promised(a: NoiseCall, b: NoiseCall) -> float:
    """Declared sensitivity of two calls, and what rounding may add to the change of their values."""
    assert a.sensitivity is not None
    assert b.sensitivity is not None
    promised = min(a.sensitivity, b.sensitivity)
    with suppress(TypeError, ValueError):
        sizes = np.abs(np.array([np.ravel(a.value), np.ravel(b.value)], dtype=float))
        promised += _ROUNDING * promised + 1e-14 * float(np.sum(sizes[np.isfinite(sizes)]))
    return promised


def _same_calls(x: Run, y: Run) -> bool:
    """Whether two runs with equal noise made the same calls on the same values."""
    return len(x.calls) == len(y.calls) and all(
        a.matches(b) and value_key(a.value) == value_key(b.value) for a, b in zip(x.calls, y.calls, strict=True)
    )


def _same_shifts(x: Compared, y: Compared) -> bool:
    return (x.disjoint, x.undecided, len(x.shifts)) == (y.disjoint, y.undecided, len(y.shifts)) and all(
        a.scale == b.scale and math.isclose(a.change, b.change, rel_tol=_ROUNDING, abs_tol=a.error + b.error)
        for a, b in zip(x.shifts, y.shifts, strict=True)
    )


def _divergence(first: Run, frozen: Run) -> str:
    """Say where the calls on two inputs differ, though all before returned the same."""
    assert frozen.diverged is not None
    calls = [each.calls[frozen.diverged] if frozen.diverged < len(each.calls) else None for each in (first, frozen)]
    told = ["no further call" if each is None else f"{each.function} at {each.place}" for each in calls]
    if told[0] == told[1]:
        told = [f"{text} of shape {np.shape(each.returned)}" for text, each in zip(told, calls, strict=True) if each]
    return (
        f"which calls are made depends on the data: call {frozen.diverged + 1} is {told[0]} on one input and "
        f"{told[1]} on the other"
    )


def _witness(broken: _Broken) -> Counterexample:
    instance: dict[str, Any] = {"data": plain_value(broken.pair[0]), "neighbour": plain_value(broken.pair[1])}
    if broken.call is not None:
        instance |= {"call": broken.call.function, "place": broken.call.place}
    if broken.value is not None:
        instance |= {"value": plain_value(broken.value), "value_on_neighbour": plain_value(broken.other_value)}
    return Counterexample(
        instance=instance,
        quantity=broken.quantity,
        measured=broken.measured,
        claimed=broken.claimed,
        direction="at-most",
        details=dict(broken.details),
    )
