"""Build hook: a wheel carries the catalogue inside the package; an editable install reads it from the checkout."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_PARTS = (("protocols", "*.py", ""), ("audits", "*.toml", "audits/"), ("reports", "*.json", "reports/"))
"""Folder of the checkout, what is taken of it, and where it goes below ``dpaudit/catalog``."""


class CatalogueHook(BuildHookInterface):
    """Puts the papers, their plans and their records into a wheel as ``dpaudit/catalog``."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the catalogue to a standard wheel; a copy in an editable one would go stale."""
        if version == "editable":
            return
        for folder, pattern, home in _PARTS:
            for path in sorted((Path(self.root) / folder).rglob(pattern)):
                relative = path.relative_to(Path(self.root) / folder).as_posix()
                build_data["force_include"][str(path)] = f"dpaudit/catalog/{home}{relative}"
