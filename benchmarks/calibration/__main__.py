"""Calibrate tools that bound epsilon from below: `python benchmarks/calibration`."""

import argparse
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(
    0, str(Path(__file__).resolve().parents[1])
)  # `python benchmarks/calibration` puts only that folder there

from tables import aligned

from calibration.cases import cases
from calibration.interface import Case, FileError, Tool, loaded
from calibration.page import Results, Settings, page, summary
from calibration.rates import Kept, Tally, repeated
from calibration.tools import TOOLS


def main(arguments=None) -> int:
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    options = _parser().parse_args(arguments)
    try:
        tools, absent = _tools(options.tools)
        chosen = _cases(options.only)
        for file in filter(None, (options.write, options.keep)):
            _refuse_unwritable(file)
        if options.write and options.keep and Path(options.write).resolve() == Path(options.keep).resolve():
            raise FileError(f"--write and --keep are the same file, {options.write}: give each its own")
        kept = Kept(options.keep)
    except (FileError, LookupError) as error:
        print(error.args[0], file=sys.stderr)
        return 2
    settings = Settings(
        confidence=options.confidence,
        samples=options.samples,
        runs=options.runs,
        power_samples=list(dict.fromkeys(options.power_samples)),
        power_runs=options.power_runs,
        arguments=_without_files(arguments),
    )
    results = Results(
        settings=settings,
        tools=tools,
        cases=chosen,
        tallies=_measured(tools, chosen, settings, kept),
        absent=absent,
    )
    print("\n".join(aligned(summary(results))))
    for tool in absent:
        print(f"{tool.name} was left out: {tool.requires} is not installed", file=sys.stderr)
    if options.write:
        Path(options.write).write_text(page(results), encoding="utf-8")
    return 0


def _measured(tools, chosen, settings, kept) -> dict[tuple[str, str, int], Tally]:
    found = {}
    for case in chosen:
        broken = case.kind == "broken"
        sizes = settings.power_samples if broken else [settings.samples]
        for tool in tools:
            for samples in sizes:
                runs = settings.power_runs if broken else settings.runs
                tally = kept.tallied(tool, case, samples, settings.confidence, runs)
                found[tool.name, case.name, samples] = tally
                print(
                    f"{case.name}, {tool.name}, {samples:,}: {_said(tally, case, samples)}", file=sys.stderr, flush=True
                )
    return found


def _refuse_unwritable(name: str) -> None:
    """Find out before anything runs, and leave no trace: a file that was not there is not there afterwards."""
    file = Path(name)
    try:
        if not file.resolve().parent.is_dir():
            raise FileError(f"there is no folder {file.parent} to write {file.name} to")
        if file.is_dir():
            raise FileError(f"{name} is a folder: give the name of a file")
        new = not file.exists()
        with file.open("a", encoding="utf-8"):
            pass
        if new:
            file.resolve().unlink()  # where it is a link, the link was there before
    except OSError as error:
        raise FileError(f"{name} cannot be written: {error.strerror}; give another file") from error


def _without_files(arguments: list[str]) -> list[str]:
    """The command line without --write, --keep and their files, which decide nothing."""
    found, files = [], ("--write", "--keep")
    rest = iter(arguments)
    for argument in rest:
        if argument in files:
            next(rest, None)
        elif not argument.startswith(tuple(f"{name}=" for name in files)):
            found.append(argument)
    return found


def _said(tally: Tally, case: Case, samples: int) -> str:
    said = [tally.gaps] if tally.gaps else []
    if tally.applies:
        counts = f"{tally.alarms} false alarms, {tally.found} found, of {tally.runs}, in {tally.seconds:.1f} s"
        said.insert(0, counts)
    if reason := repeated(tally, case):
        said.append(f"{reason}: the runs are not independent")
    if tally.drawn > samples:
        said.append(f"drew {tally.drawn / samples:.3g} times as many outputs as allowed")
    return "; ".join(said) or "does not apply"


def _tools(names: list[str]) -> tuple[list[Tool], list[Tool]]:
    """The tools of these names or files, and those among them that are not installed."""
    found = []
    for name in dict.fromkeys(names or TOOLS):
        if name.endswith(".py"):
            found.append(loaded(name))
        elif name in TOOLS:
            found.append(TOOLS[name])
        else:
            raise LookupError(f"no tool named {name!r}; give a file that ends in .py, or one of: {'; '.join(TOOLS)}")
    if twice := [name for name, times in Counter(tool.name for tool in found).items() if times > 1]:
        raise LookupError(f"more than one tool is named {'; '.join(twice)}: rename all but one, or leave them out")
    return [tool for tool in found if tool.installed], [tool for tool in found if not tool.installed]


def _cases(names: list[str] | None):
    known = cases()
    if unknown := [name for name in names or [] if name not in known]:
        raise LookupError(f"no case named {', '.join(unknown)}; there are: {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(names or known)]


def _parser():
    parser = argparse.ArgumentParser(
        prog="python benchmarks/calibration", description=__doc__.splitlines()[0], allow_abbrev=False
    )
    parser.add_argument(
        "--tools", nargs="+", metavar="NAME", default=[], help="these tools: names, or files that define TOOL"
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these cases")
    parser.add_argument("--runs", type=_positive, default=400, help="audits of each null and exact case (default: 400)")
    parser.add_argument("--samples", type=_positive, default=1000, help="per input in those (default: 1,000)")
    parser.add_argument("--power-runs", type=_positive, default=20, help="audits of each broken case (default: 20)")
    parser.add_argument(
        "--power-samples",
        type=_positive,
        nargs="+",
        default=[1000, 10_000, 100_000],
        metavar="N",
        help="per input in those",
    )
    parser.add_argument("--confidence", type=_confidence, default=0.95, help="(default: 0.95)")
    parser.add_argument(
        "--keep", metavar="FILE", help="keep counts here as they arrive, and do not run again what it has"
    )
    parser.add_argument("--write", metavar="FILE", help="write the tables as Markdown")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {number}")
    return number


def _confidence(text: str) -> float:
    number = float(text)
    if not 0.5 < number < 1:
        raise argparse.ArgumentTypeError(f"must be above 0.5 and below 1, got {text}")
    return number


if __name__ == "__main__":
    sys.exit(main())
