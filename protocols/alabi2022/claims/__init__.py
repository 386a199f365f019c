"""What the paper claims, in its order: Table 1's last row, the two reductions in the central model."""

from . import exponential  # isort: skip
from . import central_first, central_second  # isort: skip

__all__ = ["central_first", "central_second", "exponential"]
