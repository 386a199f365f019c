"""What a witness file may make run: code that is where the user is or was named by the user, as it was audited."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Sequence
from pathlib import Path

from dpaudit.errors import DataError, TargetError, WitnessError
from dpaudit.registry import TargetReference, code_file, find_targets, is_below_current_folder, local_path
from dpaudit.runner.instances import digest_of
from dpaudit.runner.witnesses import WitnessFile
from dpaudit.sources.declarations import PREFIX, declaration_of, is_command, shlex_split


def targets_elsewhere(targets: Sequence[str]) -> list[str]:
    """TARGET arguments that mean code, or a plan, outside of the current folder and of the catalogue; nothing is run.

    Raises
    ------
    TargetError
        A target is no file or module.
    """
    files = {text: Path(text) if text.endswith(".toml") else code_file(text) for text in targets}
    return [text for text, file in files.items() if file is not None and not is_below_current_folder(file)]


class Trusted:
    """The code and the data of a witness file, looked at before any of them is run or read.

    Parameters
    ----------
    path, witness
        The file.
    target
        TARGET argument of the user's own, which the one in the file gives way to; None where the user names none.
    changed
        Whether code and data may have changed since the audit.

    Attributes
    ----------
    notes
        What has changed.
    """

    def __init__(self, path: str | Path, witness: WitnessFile, *, target: str | None, changed: bool) -> None:
        self._path, self._witness, self._named, self._changed = path, witness, target, changed
        self.notes: list[str] = []

    def reference(self) -> TargetReference:
        """Import the target; nothing of it runs before it is known to be what was audited, and where it may be.

        Raises
        ------
        WitnessError
            It is outside of the current folder and not named by the user, has changed, or is several targets.
        TargetError
            It cannot be found or imported.
        """
        if self._witness.target.startswith(PREFIX):
            return self._command()
        text = local_path(self._witness.target) if self._named is None else _with_class(self._named, self._witness)
        try:
            file = code_file(text)
            if file is not None:
                self._check_place(file, text)
            if file is not None and not is_command(text):
                self._compare(text.partition("::")[0], hashlib.sha256(file.read_bytes()).hexdigest())
            self._compare_loaded()
            references = find_targets(text)
        except (TargetError, OSError) as error:
            raise TargetError(f"{self._where}: {error} (paths are relative to where the audit ran)") from error
        if len(references) > 1:
            raise WitnessError(f"{self._where}: {text!r} means {len(references)} targets; name one")
        if file is None or is_command(text):
            self._compare(references[0].path, references[0].digest)
        return references[0]

    def _command(self) -> TargetReference:
        """Return the command of the file, where the user names it: a file may say any words."""
        said = declaration_of(self._witness.target)
        if self._named is None or shlex_split(self._named) != list(said.command):
            raise WitnessError(
                f"{self._path}: key 'target' is a command, which runs only where you name it yourself; if you trust "
                f"it, add --target {shlex.quote(said.shown)}"
            )
        reference = TargetReference.to_command(said)
        self._compare(said.shown, reference.digest)
        return reference

    def data(self) -> tuple[str, str] | None:
        """Path and SHA-256 of the data file; None where there is none.

        Raises
        ------
        WitnessError
            It has changed.
        DataError
            It is no file.
        """
        data = self._witness.data
        if data is None:
            return None
        name = local_path(data.file)
        if not Path(name).is_file():
            raise DataError(f"{name}: there is no such data file (paths are relative to where the audit ran)")
        digest = digest_of(name)
        self._compare(name, digest, known=data.sha256, what="data")
        return name, digest

    @property
    def _where(self) -> str:
        return f"{self._path}: key 'target'" if self._named is None else "--target"

    def _check_place(self, file: Path, text: str) -> None:
        if self._named is None and not is_below_current_folder(file):
            raise WitnessError(
                f"{self._where} names {text}, which is outside of the current folder; if you trust that code, name it "
                f"yourself: --target {text}"
            )

    def _compare_loaded(self) -> None:
        """Compare the files that the target loads; of one that the user names elsewhere, those that are here."""
        for name, known in self._witness.loaded.items():
            file = Path(local_path(name))
            if file.is_file() or self._named is None:
                self._compare(name, digest_of(str(file)) if file.is_file() else "", known=known)

    def _compare(self, shown: str, digest: str, *, known: str | None = None, what: str = "code") -> None:
        known = self._witness.sha256 if known is None else known
        if digest == known:
            return
        if not self._changed:
            then, now = known[:12] or "unknown", digest[:12] or "unknown"
            raise WitnessError(
                f"{shown} has changed since the audit (its SHA-256 was {then} and is {now}); audit it again, or check "
                f"the changed {what} with --changed"
            )
        self.notes.append(f"{shown} has changed since the audit; this checks the changed {what}")


def _with_class(named: str, witness: WitnessFile) -> str:
    """Return the user's TARGET with the class that the witness is about, where it names a file alone."""
    attribute = witness.target.partition("::")[2]
    return f"{named}::{attribute}" if named.endswith(".py") and attribute else named
