"""Unary encoding of one of four values."""

import dpaudit
from pure_ldp.frequency_oracles.unary_encoding import UEClient


def target():
    """The release."""
    return dpaudit.from_pure_ldp(UEClient(0.5, 4), name="unary-encoding")
