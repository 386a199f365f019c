"""``dpaudit bound A B``: bounds from files of outputs."""

from __future__ import annotations

import json
import shlex
import time
from collections import Counter
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpaudit.cli.bound_words import bound_in_words, claim_in_words, lines, option_words
from dpaudit.cli.output import say, write, write_out
from dpaudit.errors import DataError, DpauditError, ParameterError

if TYPE_CHECKING:
    from dpaudit.auditors.blackbox.curve_bounds import PrivacyBounds
    from dpaudit.auditors.blackbox.samples import SamplesBound
    from dpaudit.claims.evidence import Evidence
    from dpaudit.claims.guarantees import Guarantee
    from dpaudit.runner.bounds import Claimed
    from dpaudit.sources.tables import Table

_LONGEST = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """Outputs on two inputs: what reports call them, the files, and how a command names them."""

    name: str
    files: tuple[Path, ...]
    words: list[str]
    label: str | None = None

    def tables(self, header: bool | None) -> tuple[Table, Table]:
        from dpaudit.sources.files import by_label, read_table

        if self.label is not None:
            return by_label(self.files[0], self.label, header=header)
        return read_table(self.files[0], header=header), read_table(self.files[1], header=header)


def bound_files(
    files: list[Path],
    *,
    label: str | None,
    header: bool | None,
    features: str | None,
    curve: bool,
    guarantee: Guarantee,
    claimed: Claimed | None,
    confidence: float,
    seed: int,
    format_: str,
    output: Path | None,
) -> int:
    """Bound what a guarantee forces for every pair of files, print it and write the record; return the exit status.

    Where there are many pairs, one that cannot be used is an error of its own, and the others go on. With ``curve`` the
    bound and the whole curve have half of the error probability each.
    """
    from dpaudit.auditors.blackbox.curve_bounds import privacy_bounds_from_samples
    from dpaudit.auditors.blackbox.samples import bound_from_samples
    from dpaudit.auditors.sampling.budget import complement
    from dpaudit.claims.verdicts import status_of, status_of_error, worst_status
    from dpaudit.runner.bounds import bound_result, bounds_record, judge_samples
    from dpaudit.runner.outcome import failure

    started = time.time()
    pairs = _pairs(files, label)
    options = [] if claimed is None else option_words(claimed)
    options += ["--confidence", repr(confidence), *([] if features is None else ["--features", features])]
    options += [] if header is None else ["--header" if header else "--no-header"]
    options += [*(["--curve"] if curve else []), "--seed", str(seed)]
    certain = 1 - complement(confidence) / 2 if curve else confidence
    look: dict[str, Any] = {"confidence": certain, "seed": seed, "features": features}
    of_folder = len(files) == 1 and label is None
    texts: list[Any] = []
    results, verdicts, statuses = [], [], []
    for pair in pairs:
        evidence: Evidence | None
        try:
            tables = pair.tables(header)
            names = tables[0].name, tables[1].name
            found = bound_from_samples(*tables, guarantee=guarantee, names=names, **look)
            whole = privacy_bounds_from_samples(*tables, names=names, **look) if curve else None
        except DpauditError as error:
            if not of_folder:
                raise
            say(f"{pair.name}: {error}")
            statuses.append(status_of_error(error))
            evidence = failure(error)
            told = {"name": pair.name, "inputs": [str(file) for file in pair.files], "error": str(error)}
            texts.append(told if format_ == "json" else f"{pair.name}: error; {evidence.note}\n")
        else:
            evidence = None if claimed is None else judge_samples(found, names, whole)
            texts.append(
                _told(pair, names, found, whole, claimed, evidence)
                if format_ == "json"
                else _text(pair, names, found, whole, claimed, many=of_folder)
            )
            statuses.append(0 if evidence is None else status_of(evidence.verdict, None))
        verdicts.append("bounded" if evidence is None else evidence.verdict.value)
        if evidence is not None and claimed is not None:
            result = bound_result(
                evidence,
                claimed,
                files=pair.files,
                name=pair.name,
                relation="the inputs of the two files",
                confidence=confidence,
                seed=seed,
                command=shlex.join(["dpaudit", "bound", *pair.words, *options]),
            )
            results.append(result)
    if format_ == "json":
        content: Any = texts if of_folder else texts[0]
        write_out(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    else:
        write_out("".join(map(str, texts)) + (_summed_up(verdicts, confidence) if of_folder else ""))
    if output is not None:
        command = shlex.join(["dpaudit", "bound", *_words(files, label), *options])
        write(bounds_record(results, seed=seed, command=command, started=started), output)
    return worst_status(statuses)


def _summed_up(verdicts: list[str], confidence: float) -> str:
    """Return the last line on many pairs: how many there are of each verdict, and the error probability of all."""
    from dpaudit.auditors.sampling.budget import complement

    counts = ", ".join(f"{number} {verdict}" for verdict, number in Counter(verdicts).items())
    # As decimals, so that 3 times 0.001 remains 0.003.
    wrong = min(Decimal(1), Decimal(repr(complement(confidence))) * (len(verdicts) - verdicts.count("error")))
    number = f"{len(verdicts)} pair{'' if len(verdicts) == 1 else 's'}"
    return f"\n{number}: {counts}; the probability that any of these bounds is wrong is at most {float(wrong):g}\n"


def _pairs(files: list[Path], label: str | None) -> list[_Pair]:
    """Pairs of files, from what the command names."""
    from dpaudit.sources.files import pairs_in

    if len(files) == 1 and label is None and files[0].is_dir():
        found = pairs_in(files[0])
        return [_Pair(name=name, files=pair, words=_words(list(pair), None)) for name, pair in found.items()]
    if label is not None:
        if len(files) != 1:
            raise ParameterError(f"--label {label} is a column of one file; give one file, or two without --label")
        return [_Pair(name=files[0].name, files=(files[0],), words=_words(files, label), label=label)]
    if len(files) != 2:
        raise ParameterError(
            f"{len(files)} file{'s' if len(files) != 1 else ''} given; give the outputs on two inputs: two files, one "
            "with --label COLUMN, or a folder of pairs"
        )
    if files[0].exists() and files[1].exists() and files[0].samefile(files[1]):
        raise DataError(f"{files[0]} and {files[1]} are one file; give the outputs on two inputs")
    return [_Pair(name=f"{files[0].name}-{files[1].name}", files=(files[0], files[1]), words=_words(files, None))]


def _words(files: list[Path], label: str | None) -> list[str]:
    return [*map(str, files), *([] if label is None else ["--label", label])]


def _text(
    pair: _Pair,
    names: tuple[str, str],
    found: SamplesBound,
    whole: PrivacyBounds | None,
    claimed: Claimed | None,
    *,
    many: bool,
) -> str:
    from dpaudit.auditors.blackbox.samples import MORE_ROWS
    from dpaudit.auditors.sampling.budget import complement
    from dpaudit.claims.record import plain
    from dpaudit.runner.bounds import judge_samples

    others = {name: value for name, value in found.guarantee.parameters.items() if name != found.parameter}
    event = json.dumps(plain(found.event), ensure_ascii=False)
    likelier, other = reversed(names) if found.reverse else names
    more = f"with {MORE_ROWS} times the rows, and the same frequencies: {found.outlook:.4g}"
    rows = [
        ("rows", f"{found.rows[0]} and {found.rows[1]}, of which {found.learned} each chose the event"),
        ("event", event if len(event) <= _LONGEST else f"{event[:_LONGEST]}… (--format json has all)"),
        (
            "likelier in",
            f"{likelier}: {found.hits[0]} of {found.trials[0]}, in {other} {found.hits[1]} of {found.trials[1]}",
        ),
        ("to say more", more if found.outlook > found.value else f"{more}; other events need other outputs"),
    ]
    if whole is not None:
        at_once = 1 - complement(found.confidence) - complement(whole.confidence)
        rows.append(
            ("the curve", f"{whole.in_words()}; all true at once, and the bound above, with confidence {at_once:.6g}")
        )
    rows += [("note", note) for note in found.notes]
    if claimed is not None:
        # The notes have lines of their own.
        rows.append(("claim", claim_in_words(claimed, judge_samples(replace(found, notes=()), names))))
    heading = bound_in_words(found.parameter, found.value, others, found.confidence)
    return lines(f"{pair.name}: {heading}" if many else heading, rows)


def _told(
    pair: _Pair,
    names: tuple[str, str],
    found: SamplesBound,
    whole: PrivacyBounds | None,
    claimed: Claimed | None,
    evidence: Evidence | None,
) -> dict[str, Any]:
    from dpaudit.claims.record import plain

    told: dict[str, Any] = {"name": pair.name, "inputs": list(names), **plain(found)}
    told["guarantee"] = {"kind": found.guarantee.kind, **found.guarantee.parameters}
    if whole is not None:
        told["curve"] = {
            "confidence": whole.confidence,
            "trials": whole.trials,
            "mu": whole.mu,
            "rho": whole.rho,
            **plain(whole.curves()),
        }
    told |= {"claimed": None, "verdict": None}
    if claimed is not None and evidence is not None:
        told |= {"claimed": dict(claimed.parameters), "verdict": str(evidence.verdict), "note": evidence.note}
    return told
