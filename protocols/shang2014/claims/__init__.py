"""What the paper says, one module for each part of it, in the paper's order."""

# Claims are listed in the order in which their modules are imported.
# isort: off
from . import introduction, aggregation, privacy, geometry, general_bounds, asymptotics
# isort: on

__all__ = ["aggregation", "asymptotics", "general_bounds", "geometry", "introduction", "privacy"]
