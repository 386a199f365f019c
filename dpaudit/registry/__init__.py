"""Finding targets, claims and papers: in the catalogue, in installed packages that announce themselves, in files."""

from dpaudit.registry.catalogue import (
    CataloguePaper,
    catalogue,
    catalogue_claims,
    catalogue_papers,
    catalogue_plans,
    in_catalogue,
    load,
)
from dpaudit.registry.names import suggestion
from dpaudit.registry.references import TargetReference, line_in, targets_in
from dpaudit.registry.targets import called, find_targets, reference_of

__all__ = [
    "CataloguePaper",
    "TargetReference",
    "called",
    "catalogue",
    "catalogue_claims",
    "catalogue_papers",
    "catalogue_plans",
    "find_targets",
    "in_catalogue",
    "line_in",
    "load",
    "reference_of",
    "suggestion",
    "targets_in",
]
