"""``dpaudit bound A B``: bounds from files of outputs."""

from __future__ import annotations

import json
import shlex
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpaudit.cli.bound_words import bound_in_words, claim_in_words, lines, option_words
from dpaudit.cli.output import write, write_out
from dpaudit.errors import DataError, ParameterError

if TYPE_CHECKING:
    from dpaudit.auditors.samples import SamplesBound
    from dpaudit.claims.evidence import Evidence
    from dpaudit.runner.bounds import Claimed
    from dpaudit.sources.tables import Table

_LONGEST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """Outputs on two inputs: what reports call them, the files, and how a command names them."""

    name: str
    files: tuple[Path, ...]
    words: list[str]
    label: str | None = None

    def tables(self) -> tuple[Table, Table]:
        from dpaudit.sources.files import by_label, read_table

        if self.label is not None:
            return by_label(self.files[0], self.label)
        return read_table(self.files[0]), read_table(self.files[1])


def bound_files(
    files: list[Path],
    *,
    label: str | None,
    features: str | None,
    delta: float,
    claimed: Claimed | None,
    confidence: float,
    seed: int,
    format_: str,
    output: Path | None,
) -> int:
    """Bound epsilon for every pair of files, print what was found and write the record; return the exit status."""
    from dpaudit.auditors.samples import bound_from_samples
    from dpaudit.claims.verdicts import worst_status
    from dpaudit.runner.bounds import bound_result, bounds_record, judge_samples

    started = time.time()
    pairs = _pairs(files, label)
    options = [] if claimed is None else option_words(claimed)
    options += ["--confidence", repr(confidence), *([] if features is None else ["--features", features])]
    options += ["--seed", str(seed)]
    texts, results = [], []
    for pair in pairs:
        tables = pair.tables()
        found = bound_from_samples(
            *tables,
            delta=delta,
            confidence=confidence,
            seed=seed,
            claimed=0.0 if claimed is None else claimed.value,
            features=features,
            names=(tables[0].name, tables[1].name),
        )
        names = tables[0].name, tables[1].name
        evidence = None if claimed is None else judge_samples(found, names)
        texts.append(
            _told(pair, names, found, claimed, evidence)
            if format_ == "json"
            else _text(pair, names, found, claimed, evidence, many=len(pairs) > 1)
        )
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
        told: Any = texts if len(pairs) > 1 or files[0].is_dir() else texts[0]
        write_out(json.dumps(told, indent=1, ensure_ascii=False) + "\n")
    else:
        write_out("".join(map(str, texts)))
    if output is not None:
        command = shlex.join(["dpaudit", "bound", *_words(files, label), *options])
        write(bounds_record(results, seed=seed, command=command, started=started), output)
    return worst_status([result.status for result in results])


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
    claimed: Claimed | None,
    evidence: Evidence | None,
    *,
    many: bool,
) -> str:
    from dpaudit.auditors.samples import MORE_ROWS
    from dpaudit.claims.record import plain

    delta = found.guarantee.parameters.get("delta", 0.0)
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
    if claimed is not None and evidence is not None:
        rows.append(("claim", claim_in_words(claimed, evidence)))
    heading = bound_in_words(found.parameter, found.value, delta, found.confidence)
    return lines(f"{pair.name}: {heading}" if many else heading, rows)


def _told(
    pair: _Pair, names: tuple[str, str], found: SamplesBound, claimed: Claimed | None, evidence: Evidence | None
) -> dict[str, Any]:
    from dpaudit.claims.record import plain

    told: dict[str, Any] = {"name": pair.name, "inputs": list(names), **plain(found)}
    told["guarantee"] = {"kind": found.guarantee.kind, **found.guarantee.parameters}
    told |= {"claimed": None, "verdict": None}
    if claimed is not None and evidence is not None:
        told |= {"claimed": dict(claimed.parameters), "verdict": str(evidence.verdict), "note": evidence.note}
    return told
