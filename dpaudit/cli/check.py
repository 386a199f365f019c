"""``dpaudit check``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

from dpaudit.claims.verdicts import EXIT_INTERRUPTED, EXIT_UNUSABLE, worst_status
from dpaudit.cli import completion
from dpaudit.cli.began import command_began
from dpaudit.cli.interrupts import noted
from dpaudit.cli.output import emit, is_error_terminal, say, write, write_badge
from dpaudit.errors import OutputError, ParameterError

if TYPE_CHECKING:
    from dpaudit.claims.record import Record
    from dpaudit.runner import Request
    from dpaudit.runner.check import Run

_MOST_ERRORS = 1000
"""Of more errors than this the others are counted."""

Format = Literal["text", "json", "markdown", "junit", "sarif"]
Method = Literal["auto", "exact", "likelihood", "black-box"]
Guaranteed = Literal["approximate", "gaussian", "zero-concentrated", "renyi"]


def check(
    target: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TARGET ...]",
            autocompletion=completion.targets,
            help="A target, claim or paper of the catalogue, file.py, file.py::Class, module:Class or plan.toml. None: "
            "every plan in ./audits, or else the catalogue's.",
        ),
    ] = None,
    command: Annotated[
        str | None,
        typer.Option(
            metavar="'PROGRAM [WORD ...]'",
            help="Audit a program that speaks dpaudit.sampler/1, with its inputs and claim; {NAME} in a word stands "
            "for a parameter (--set).",
        ),
    ] = None,
    inputs: Annotated[
        str | None,
        typer.Option(
            metavar="JSON", help="Inputs of the program, or library's object, any two of them neighbours: '[0, 1]'."
        ),
    ] = None,
    pairs: Annotated[
        str | None, typer.Option(metavar="JSON", help="Pairs of neighbouring inputs instead: '[[0, 1], [1, 2]]'.")
    ] = None,
    claim_epsilon: Annotated[
        float | None, typer.Option(metavar="E", help="The epsilon that the program claims, and {epsilon} in a word.")
    ] = None,
    claim_delta: Annotated[
        float | None, typer.Option(metavar="D", help="The delta that it claims; 0 by default.")
    ] = None,
    claim_rho: Annotated[
        float | None, typer.Option(metavar="R", help="The rho of zero-concentrated DP that it claims instead.")
    ] = None,
    claim_mu: Annotated[
        float | None, typer.Option(metavar="M", help="The mu of Gaussian DP that it claims instead.")
    ] = None,
    order: Annotated[
        float | None, typer.Option(metavar="A", help="The order of Renyi DP, of which it claims --claim-epsilon.")
    ] = None,
    guarantee: Annotated[
        Guaranteed | None,
        typer.Option(help="What the program claims, where neither --claim-rho, --claim-mu nor --order says it."),
    ] = None,
    relation: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Its neighbouring relation, in words, for the report.")
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(metavar="S", help="Seconds without a byte after which the program hangs; 60 by default."),
    ] = None,
    claim: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", autocompletion=completion.claims, help="Audit only this claim (repeatable)."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE[,VALUE...]", help="Values of a parameter; several make a grid."),
    ] = None,
    data: Annotated[str | None, typer.Option(metavar="FILE", help="Measure on the rankings of a PrefLib file.")] = None,
    samples: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Samples per input of a privacy audit, at least 1000 where it samples, and 1000000 where neither "
            "this nor a plan says; or runs of a measurement.",
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            metavar="S",
            help="Stop after S seconds, with as many samples as fit; if they are too few to show anything, or fewer "
            "than --samples says, what is undecided is inconclusive.",
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(metavar="C", help="Confidence of every result; by default the plan's, or else 0.999."),
    ] = None,
    method: Annotated[Method | None, typer.Option(help="Insist on a method of auditing privacy.")] = None,
    stop_early: Annotated[
        bool,
        typer.Option(
            "--stop-early/--no-stop-early",
            help="Stop sampling as soon as a claim is refuted (what is decided exactly ignores it).",
        ),
    ] = False,
    features: Annotated[
        Literal["float-bits"] | None,
        typer.Option(
            help="Look at the bit patterns of floating-point outputs too; implies --method black-box (what a plan "
            "insists on deciding exactly ignores it)."
        ),
    ] = None,
    max_cells: Annotated[
        int | None,
        typer.Option(metavar="N", help="Allow so many cells (claims times combinations of values); 20000 by default."),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(metavar="I/N", help="Audit the I-th of N parts of the cells; `dpaudit merge` joins the records."),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Equal seeds give equal records.")] = 0,
    workers: Annotated[int | None, typer.Option(metavar="N", help="Processes; by default one per processor.")] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS|local",
            help="Audit on the workers of this Dask scheduler (tcp://HOST:8786); local: of a cluster on this machine.",
        ),
    ] = None,
    format_: Annotated[Format, typer.Option("--format", help="What goes to standard output.")] = "text",
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write record.json, report.md, index.html, junit.xml and witnesses/ there, and keep results as they "
            "arrive: the same command goes on where it was.",
        ),
    ] = None,
    badge: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the JSON of a badge there, for shields.io's endpoint.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Compute everything anew, whatever is kept in DIR.")] = False,
    with_figures: Annotated[
        bool,
        typer.Option(
            "--with-figures/--no-with-figures",
            help="Measure the published figures too, as `dpaudit reproduce` does.",
        ),
    ] = False,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick/--no-quick",
            help="Spend a tenth of the usual samples, in place of --samples; what these cannot tell is inconclusive.",
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress; only what is not as expected.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback when a target raises.")] = False,
) -> None:
    """Audit claims and gate on the verdicts."""
    from dpaudit.runner import MOST_CELLS, Request
    from dpaudit.runner.request import shard_of

    claimed = {
        "--claim-epsilon": claim_epsilon,
        "--claim-delta": claim_delta,
        "--claim-rho": claim_rho,
        "--claim-mu": claim_mu,
        "--order": order,
    }
    if command is not None:
        from dpaudit.sources.declarations import command_target

        if target:
            raise ParameterError(f"--command is a target of its own; leave {target[0]} out, or run twice")
        target = [
            command_target(
                command,
                pairs=pairs,
                inputs=inputs,
                guarantee=guarantee,
                claimed=claimed,
                relation=relation,
                timeout=timeout,
            )
        ]
        _check_said_once(claimed, set_ or [])
    else:
        about = {
            **claimed,
            "--guarantee": guarantee,
            "--relation": relation,
            "--timeout": timeout,
        }
        if given := [option for option, value in about.items() if value is not None]:
            raise ParameterError(f"{given[0]} is about a program; give --command as well, or leave it out")
        if pairs is not None or inputs is not None:
            from dpaudit.sources.libraries.adapters import with_inputs

            if not target:
                raise ParameterError("--inputs and --pairs are about a program or an object of a library; name it")
            target = [with_inputs(each, pairs=pairs, inputs=inputs) for each in target]
    request = Request(
        targets=target or [],
        claims=claim or [],
        set=settings(set_ or []),
        data=data,
        samples=samples,
        confidence=confidence,
        method=method,
        stop_early=stop_early,
        features=features or "none",
        seed=seed,
        quick=quick,
        with_figures=with_figures,
        max_cells=MOST_CELLS if max_cells is None else max_cells,
        shard=None if shard is None else shard_of(shard),
    )
    run(
        request,
        seconds=seconds,
        workers=workers,
        scheduler=scheduler,
        format_=format_,
        output=output,
        fresh=fresh,
        quiet=quiet,
        debug=debug,
        badge=badge,
    )


def run(
    request: Request,
    *,
    seconds: float | None,
    workers: int | None,
    format_: str,
    output: Path | None,
    fresh: bool,
    quiet: bool,
    debug: bool,
    scheduler: str | None = None,
    badge: Path | None = None,
) -> NoReturn:
    """Run a request with progress, print and write its record, and leave with its status."""
    from dpaudit.cli.progress import progress
    from dpaudit.reporting import check_writable
    from dpaudit.runner.check import run_request

    started = command_began()
    _validate(request, seconds, workers, output, fresh)
    if output is not None:
        check_writable(output)
    if not (request.targets or request.claims or request.figures is not None or quiet):
        _tell_what_is_audited()
    with ExitStack() as stack:
        executor = None
        if scheduler is not None:
            from dpaudit.runner.dask import cluster

            executor = stack.enter_context(cluster(scheduler, workers))
        asked = stack.enter_context(noted())
        begin = stack.enter_context(progress(enabled=not quiet, terminal=is_error_terminal()))
        done = run_request(
            request,
            seconds=seconds,
            started=started,
            workers=workers,
            debug=debug,
            begin=begin,
            output=output,
            fresh=fresh,
            announce=not quiet,
            stop=asked,
            executor=executor,
        )
        problems = list(done.problems)
        if output is not None:
            try:
                write(done.record, output)
            except OutputError as error:
                problems.append(str(error))
    if badge is not None:
        try:
            write_badge(done.record, badge)
        except OutputError as error:
            problems.append(str(error))
    emit(done.record, format_, quiet=quiet)
    for problem in dict.fromkeys(problems):
        say(problem)
    if not quiet:
        _tell(done, output)
    if done.interrupted:
        again = "; the same command goes on from there" if output is not None else ""
        cells = len(done.prepared.cells) - len(done.missing)
        say(f"interrupted; {len(done.record.results)} of {cells} results are kept{again}")
        raise typer.Exit(EXIT_INTERRUPTED)
    from dpaudit.runner.instances import OtherFileText

    lacking = _lacking(done, request)
    for problem in lacking:
        say(problem)
    status = _status(done.record)
    unusable = problems or lacking or any(isinstance(why, OtherFileText) for why in done.missing)
    raise typer.Exit(worst_status([status, EXIT_UNUSABLE]) if unusable else status)


def _lacking(done: Run, request: Request) -> list[str]:
    """Say which claims that were asked for by name have no result, because the data that the plan names are missing."""
    from dpaudit.registry.names import continued
    from dpaudit.runner.instances import DATA_FOLDER

    found = {result.claim for result in done.record.results}
    without = [name for name in dict.fromkeys(request.claims) if name not in found and not continued(name, found)]
    if not done.missing or (found and not without):
        return []
    named = f"claim {', '.join(without)}: " if without else ""
    return [f"{named}nothing was checked, for want of data; put the files where {DATA_FOLDER} says, or name others"]


def _tell_what_is_audited() -> None:
    """Say so where no target is named and the catalogue is audited, which takes minutes, although there is a plan."""
    from dpaudit.catalog import ROOT
    from dpaudit.plan import plans_in

    if Path.cwd() == ROOT or plans_in(Path("audits")):
        return
    here = [path.name for path in sorted(Path().glob("*.toml")) if _is_plan(path)]
    own = f"`dpaudit check {here[0]}` audits {here[0]} alone" if here else "name a target or a plan for your own"
    say(f"there is no plan in ./audits, so that the whole catalogue is audited; {own}")


def _is_plan(path: Path) -> bool:
    """Whether a file that nobody asked for seems to be a plan; one that cannot be read is none."""
    from dpaudit.reading import MEBIBYTE, read_text

    try:
        return "[[audit]]" in read_text(path, most=MEBIBYTE)
    except (OSError, UnicodeDecodeError):
        return False


def _tell(done: Run, output: Path | None) -> None:
    """Say what a user may not expect."""
    prepared = done.prepared
    if done.taken:
        say(
            f"{done.taken} of {len(prepared.cells)} results were known from {output} already, by the same code, "
            "parameters and seed; --fresh computes all anew"
        )
    if prepared.figures_left_out:
        say(f"{prepared.figures_left_out} audits of published figures are left to `dpaudit reproduce`")
    for name in prepared.without_claims:
        say(f"{name} makes no claim, and was not audited")
    for why, number in Counter(done.missing).items():
        say(f"{number} audits on real data were left out: {why}")
    if prepared.figures_not_on_data:
        say(f"not measured on rankings: {', '.join(prepared.figures_not_on_data)}")


def _status(record: Record) -> int:
    errors = 0
    for result in record.results:
        if result.verdict == "error":
            errors += 1
            if errors <= _MOST_ERRORS:
                note = result.note.removeprefix(f"{result.claim}: ")
                say(f"{result.target}, {result.claim}: {note}")
    if errors > _MOST_ERRORS:
        say(f"{errors - _MOST_ERRORS} more results are errors; the record has the reason of each")
    return record.status


def settings(texts: list[str]) -> dict[str, list[Any]]:
    """Read the values of ``--set``.

    Raises
    ------
    ParameterError
        One is not NAME=VALUE, or a name is set twice.
    """
    from dpaudit.runner.request import from_setting

    settings: dict[str, list[Any]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals or not name or not values or "" in values.split(","):
            raise ParameterError(f"--set {text}: write NAME=VALUE or NAME=VALUE,VALUE")
        if name in settings:
            raise ParameterError(f"--set {text}: {name} is set twice; write --set {name}=VALUE,VALUE for a grid")
        settings[name] = [from_setting(value) for value in values.split(",")]
    return settings


def _validate(request: Request, seconds: float | None, workers: int | None, output: Path | None, fresh: bool) -> None:
    from dpaudit.runner.check import check_budget, check_run

    if request.quick and request.samples is not None:
        raise ParameterError("--quick spends a tenth of the usual samples; leave it or --samples out")
    if fresh and output is None:
        raise ParameterError("--fresh forgets what --output DIR keeps; give --output, or leave --fresh out")
    check_budget(request)
    check_run(seconds, request.seed, 1 if workers is None else workers)


def _check_said_once(claimed: Mapping[str, float | None], set_: Sequence[str]) -> None:
    """Raise ParameterError where --set gives a number that an option claims: it would take its place."""
    names = {text.partition("=")[0].strip() for text in set_}
    for option, value in claimed.items():
        name = option.removeprefix("--").removeprefix("claim-")
        if value is not None and name in names:
            raise ParameterError(f"{option} {value:g} and --set {name}=… both give {name}; leave one of them out")
