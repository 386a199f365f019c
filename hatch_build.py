"""Build hook: a wheel carries the catalogue inside the package; an editable install reads it from the checkout."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CatalogueHook(BuildHookInterface):
    """Puts ``protocols`` and ``audits`` into a wheel as ``dpaudit/catalog``."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the catalogue to a standard wheel; a copy in an editable one would go stale."""
        if version == "editable":
            return
        for folder, ending in (("protocols", "py"), ("audits", "toml")):
            for path in sorted((Path(self.root) / folder).rglob(f"*.{ending}")):
                relative = path.relative_to(self.root).as_posix()
                build_data["force_include"][str(path)] = f"dpaudit/catalog/{relative}"
