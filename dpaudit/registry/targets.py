"""What a TARGET argument means."""

from __future__ import annotations

import sys
from pathlib import Path

from dpaudit.errors import TargetError
from dpaudit.mechanism import Mechanism
from dpaudit.registry.catalogue import (
    broken_papers,
    catalogue,
    catalogue_claims,
    catalogue_papers,
    in_catalogue,
)
from dpaudit.registry.names import suggestion
from dpaudit.registry.references import (
    TargetReference,
    check_methods,
    class_in,
    import_target,
    library_targets,
    loaded_from,
    names_catalogue_file,
    shown_path,
    targets_in,
    unclaimed_in,
)
from dpaudit.sources.declarations import CommandDeclaration, declaration_of, is_command
from dpaudit.sources.libraries.adapters import is_library
from dpaudit.sources.libraries.objects import LibraryMechanism


def find_targets(text: str) -> list[TargetReference]:
    """Targets that a TARGET argument means: a name of the catalogue, a paper, a file, a class, a module, a command.

    Raises
    ------
    TargetError
        Nothing of that name; the message names the nearest one known.
    """
    if is_command(text):
        return [TargetReference.to_command(declaration_of(text))]
    if is_library(text):
        return library_targets(text)
    if names_catalogue_file(text):
        # Other papers may make claims about it.
        catalogue_papers()
    file, _, attribute = text.partition("::")
    if file.endswith(".py"):
        path = str(Path(file))
        if not attribute:
            return targets_in(path)
        module, digest = import_target(path)
        class_in(module, attribute, path)
        return [TargetReference(shown_path(path), attribute, digest)]
    dotted, colon, attribute = text.partition(":")
    if colon:
        module, digest = import_target(dotted)
        class_in(module, attribute, dotted)
        return [TargetReference(dotted, attribute, digest)]
    known = catalogue()
    if text in known:
        return [known[text]]
    papers = catalogue_papers()
    if text in papers:
        if papers[text].problem:
            raise TargetError(papers[text].problem)
        return list(papers[text].targets.values())
    stem = text.replace("-", "_")
    if in_module := [found for found in known.values() if found.path.rpartition(".")[2] == stem]:
        return in_module
    problems = "".join(f"; {problem}" for problem in broken_papers().values())
    files = sorted(path.name for path in Path().glob("*.py"))
    raise TargetError(
        f"unknown target {text!r}{suggestion(text, [*known, *papers, *catalogue_claims(), *files])}; "
        f"`dpaudit list` shows the catalogue{problems}"
    )


def unclaimed(text: str) -> list[str]:
    """Mechanisms of a file named as TARGET that make no claim, each by the TARGET argument that means it alone."""
    if not text.endswith(".py") or is_library(text) or is_command(text):
        return []
    return [f"{shown_path(text)}::{name}" for name in unclaimed_in(text)]


def reference_of(target: type[Mechanism]) -> TargetReference:
    """Where a class comes from; its file if dpaudit imported it from one."""
    said = getattr(target, "declaration", None)
    if isinstance(said, CommandDeclaration):
        return TargetReference.to_command(said)
    if issubclass(target, LibraryMechanism):
        home, attribute = target.origin
        if home:
            return library_targets(f"{home}:{attribute}")[0]
        return TargetReference(target.__module__, target.name, "")
    path = loaded_from(target.__module__)
    check_methods(target, target.__module__ if path is None else shown_path(path))
    if path is not None:
        return TargetReference(shown_path(path), target.__qualname__, import_target(path)[1])
    return TargetReference(target.__module__, target.__qualname__, "")


def called(reference: TargetReference, name: str) -> str:
    """TARGET argument that means a reference: its catalogue name, ``file.py::Class``, ``module:Class``, a command."""
    if is_command(reference.path):
        return reference.path
    path = reference.path
    if path == "__main__":
        # Another process has another one, and finds the class of a script in its file.
        path = shown_path(getattr(sys.modules[path], "__file__", None) or path)
    if path.endswith(".py") and not is_library(path):
        return f"{path}::{reference.attribute}"
    known = catalogue().get(name) if in_catalogue(reference.path) else None
    if known is not None and known.path == reference.path:
        return name
    return f"{reference.path}:{reference.attribute}{f'#{reference.pairs}' if reference.pairs else ''}"
