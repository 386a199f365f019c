"""pure-LDP's clients, each with standard arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pure_ldp.core import FreqOracleClient

COVERED = {
    "DEClient": ("direct_encoding",),
    "UEClient": ("unary_encoding", "optimised_unary_encoding"),
    "HEClient": ("histogram_encoding",),
    "HadamardResponseClient": ("hadamard_response",),
    "LHClient": ("local_hashing", "optimised_local_hashing"),
}

_SKETCH = "its hash functions come from a server, and its reports name one of them"
_STRINGS = "its inputs are strings that it sends in parts, through another client"

LEFT_OUT = {
    "CMSClient": _SKETCH,
    "PCSClient": _SKETCH,
    "SketchResponseClient": _SKETCH,
    "FastLHClient": "it draws one of k hash functions from a file of the server",
    "HadamardMechClient": "its parameter t has no value that is right for every server",
    "RAPPORClient": "it is given a flip probability and claims no epsilon",
    "ZeroOracleClient": "it sends nothing",
    "HeavyHitterClient": _STRINGS,
    "SFPClient": _STRINGS,
    "PEMClient": _STRINGS,
    "TreeHistClient": _STRINGS,
}


def public() -> list[str]:
    """All public clients."""
    import inspect
    from importlib import import_module
    from pkgutil import walk_packages

    found = []
    for package in ("pure_ldp.frequency_oracles", "pure_ldp.heavy_hitters"):
        home = import_module(package)
        for each in walk_packages(home.__path__, f"{package}."):
            try:
                module = import_module(each.name)
            except ImportError:
                continue
            found += [
                name
                for name, value in vars(module).items()
                if inspect.isclass(value) and value.__module__ == each.name and name.endswith("Client")
            ]
    return sorted(found)


def direct_encoding() -> FreqOracleClient:
    """Make direct encoding of four values."""
    from pure_ldp.frequency_oracles.direct_encoding import DEClient

    return DEClient(1.0, 4)


def unary_encoding() -> FreqOracleClient:
    """Make symmetric unary encoding of four values."""
    from pure_ldp.frequency_oracles.unary_encoding import UEClient

    return UEClient(1.0, 4, use_oue=False)


def optimised_unary_encoding() -> FreqOracleClient:
    """Make optimised unary encoding of four values."""
    from pure_ldp.frequency_oracles.unary_encoding import UEClient

    return UEClient(1.0, 4, use_oue=True)


def histogram_encoding() -> FreqOracleClient:
    """Make histogram encoding of four values."""
    from pure_ldp.frequency_oracles.histogram_encoding import HEClient

    return HEClient(1.0, 4)


def hadamard_response() -> FreqOracleClient:
    """Make Hadamard response of four values."""
    from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient

    return HadamardResponseClient(1.0, 4, None)


def local_hashing() -> FreqOracleClient:
    """Make binary local hashing of four values."""
    from pure_ldp.frequency_oracles.local_hashing import LHClient

    return LHClient(1.0, 4)


def optimised_local_hashing() -> FreqOracleClient:
    """Make optimised local hashing of four values."""
    from pure_ldp.frequency_oracles.local_hashing import LHClient

    return LHClient(1.0, 4, use_olh=True)
