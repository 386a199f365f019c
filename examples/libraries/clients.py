"""Clients of pure-LDP: `dpaudit check pure-ldp:examples/libraries/clients.py` audits all."""

from pure_ldp.frequency_oracles.direct_encoding import DEClient
from pure_ldp.frequency_oracles.local_hashing import LHClient

direct = DEClient(1.0, 4)

hashed = LHClient(1.0, 4, use_olh=True)
