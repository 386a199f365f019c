"""The catalogue: one package, or one module, for each paper, importable as ``dpaudit.catalog.<paper>``.

In an installed wheel the papers lie in this folder. In a checkout they lie in ``protocols/``, which is part of this
package's search path, so that both import by the same names.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parent
"""Folder that holds the plans and records of the catalogue: this one in a wheel, or the checkout."""

_CHECKOUT = ROOT.parents[1]
if (_CHECKOUT / "protocols").is_dir() and (_CHECKOUT / "audits").is_dir():
    ROOT = _CHECKOUT
    __path__.append(str(_CHECKOUT / "protocols"))

NAME = __name__
PATH = __path__
"""The package's name, and the folders in which its papers are looked for."""
