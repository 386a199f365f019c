"""What the paper claims, in its order."""

from . import exponential, unsorted_rest, notation  # isort: skip
from . import central_first, central_budget, comparisons, central_second  # isort: skip
from . import local, local_answers, local_adaptive  # isort: skip
from . import sample_complexity, lower_bounds, observations  # isort: skip

__all__ = [
    "central_budget",
    "central_first",
    "central_second",
    "comparisons",
    "exponential",
    "local",
    "local_adaptive",
    "local_answers",
    "lower_bounds",
    "notation",
    "observations",
    "sample_complexity",
    "unsorted_rest",
]
