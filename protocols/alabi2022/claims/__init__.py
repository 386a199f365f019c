"""What the paper claims, in its order."""

from . import notation, comparisons  # isort: skip
from . import local, local_answers, local_adaptive  # isort: skip
from . import lower_bounds, observations  # isort: skip

__all__ = [
    "comparisons",
    "local",
    "local_adaptive",
    "local_answers",
    "lower_bounds",
    "notation",
    "observations",
]
