"""``dpaudit init``."""

from __future__ import annotations

import importlib.util
import keyword
import re
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from dpaudit.cli.output import is_lost, say, write_out
from dpaudit.errors import OutputError, ParameterError
from dpaudit.writing import write_file

_LONGEST = 100


def init(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the mechanism, such as noisy-count.")],
) -> None:
    """Write a commented starting file for your own mechanism, and its plan."""
    stem = re.sub(r"[-\s]+", "_", name.strip()).lower()
    if not stem.isidentifier() or not stem[0].isalpha():
        raise ParameterError(f"NAME {name[:_LONGEST]!r}: use letters, digits and hyphens, and begin with a letter")
    if len(stem) > _LONGEST:
        raise ParameterError(f"NAME has {len(stem)} characters; use at most {_LONGEST}")
    words = {
        "STEM": stem,
        "CLASS": "".join(part.capitalize() for part in stem.split("_")),
        "TARGET": stem.replace("_", "-"),
    }
    paths = [Path(stem + suffix) for suffix in (".py", ".toml")]
    for path in paths:
        if path.exists():
            raise OutputError(f"{path} exists already; choose another name, or move it away")
    if keyword.iskeyword(stem) or importlib.util.find_spec(stem) is not None:
        raise ParameterError(f"NAME {name!r}: {stem} has a meaning in Python already; choose another name")
    written = []
    for path in paths:
        text = resources.files("dpaudit.cli").joinpath(f"starter{path.suffix}.txt").read_text(encoding="utf-8")
        for placeholder, word in words.items():
            text = text.replace(f"@{placeholder}@", word)
        written.append((path, text))
    try:
        for path, text in written:
            write_file(path, text)
    except OutputError:
        # One without the other is of no use, and in the way of the next try.
        for path in paths:
            path.unlink(missing_ok=True)
        raise
    for path in paths:
        write_out(f"wrote {path}\n")
    write_out(f"next: dpaudit check {written[1][0]}\n")
    if is_lost():
        # The exit status is that of a failure; whoever tries again is told that the files exist already.
        say(f"{paths[0]} and {paths[1]} are written all the same; next: dpaudit check {paths[1]}")
