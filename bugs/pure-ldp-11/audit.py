"""Unary encoding of one of four values."""

from pure_ldp.frequency_oracles.unary_encoding import UEClient

import dpaudit


def target():
    """The release."""
    return dpaudit.from_pure_ldp(UEClient(0.5, 4), name="unary-encoding")
