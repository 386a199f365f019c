"""Tables of the benchmarks, for the screen and as Markdown."""

import platform
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version

Line = Sequence[str]


def aligned(lines: Sequence[Line]) -> Iterator[str]:
    """Lines of equal columns, the first one to the left."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        yield "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()


def markdown(lines: Sequence[Line]) -> list[str]:
    """Lines of a Markdown table; the first line is its header."""
    header, *rows = lines
    return ["| " + " | ".join(line) + " |" for line in (header, ("---", *["---:"] * (len(header) - 1)), *rows)]


def versions(libraries: Sequence[str]) -> str:
    """Python and those of the libraries that are installed, with their versions."""
    found = [f"Python {platform.python_version()}"]
    for name in libraries:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)
