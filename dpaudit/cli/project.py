"""Settings of a project: the table ``[tool.dpaudit]`` of the ``pyproject.toml`` in the current folder.

They stand for options of `dpaudit check` that the command line leaves out.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dpaudit.errors import PlanError
from dpaudit.reading import MEBIBYTE, read_text, shortened

if TYPE_CHECKING:
    from pydantic import ValidationError

FILE: Final = "pyproject.toml"
_LARGEST = 16 * MEBIBYTE
_OPTIONS = {"targets": "target", "claims": "claim"}
"""Keys whose parameter of `check` has another name."""


def project_settings(folder: Path) -> dict[str, Any]:
    """Return what a project sets, by the names of the settings; nothing where there is no such table.

    Raises
    ------
    PlanError
        The file cannot be read, or the table has an unknown key or a value of the wrong kind.
    """
    table = _table(folder / FILE)
    if table is None:
        return {}
    from pydantic import ValidationError

    from dpaudit.cli.project_model import Settings

    try:
        found = Settings.model_validate(table)
    except ValidationError as error:
        raise PlanError(f"{FILE}: {_first_problem(error)}") from None
    return found.model_dump(exclude_none=True)


def options_of(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by the parameters of `check`."""
    return {_OPTIONS.get(name, name): value for name, value in settings.items()}


def settings_schema() -> dict[str, Any]:
    """JSON schema of the table."""
    from dpaudit.cli.project_model import Settings

    return Settings.model_json_schema()


def _table(path: Path) -> Mapping[str, Any] | None:
    try:
        text = read_text(path, most=_LARGEST)
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise PlanError(f"{FILE}: cannot be read ({reason}); mend it, or run in another folder") from None
    # Files of other tools are none of our business as long as they do not speak of this one.
    if "dpaudit" not in text:
        return None
    try:
        tools = tomllib.loads(text).get("tool", {})
    except ValueError as error:
        raise PlanError(f"{FILE}: not TOML: {error}; mend it") from None
    table = tools.get("dpaudit") if isinstance(tools, dict) else None
    if table is not None and not isinstance(table, dict):
        raise PlanError(f"{FILE}: key 'tool.dpaudit' is not a table; write [tool.dpaudit]")
    return table


def _first_problem(error: ValidationError) -> str:
    from dpaudit.cli.project_model import Settings
    from dpaudit.registry.names import suggestion

    problem = error.errors()[0]
    key = str(problem["loc"][0])
    if problem["type"] == "extra_forbidden":
        known = [name.replace("_", "-") for name in Settings.model_fields]
        return f"key 'tool.dpaudit.{key}' is unknown{suggestion(key, known)}; known keys are {', '.join(known)}"
    return f"key 'tool.dpaudit.{key}': {problem['msg']}, got {shortened(problem['input'])}"
