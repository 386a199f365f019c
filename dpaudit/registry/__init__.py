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
from dpaudit.registry.locate import code_file, is_below_current_folder, local_path
from dpaudit.registry.names import suggestion
from dpaudit.registry.references import TargetReference, TargetSource, line_in, targets_in
from dpaudit.registry.targets import called, find_targets, reference_of, unclaimed

__all__ = [
    "CataloguePaper",
    "TargetReference",
    "TargetSource",
    "called",
    "catalogue",
    "catalogue_claims",
    "catalogue_papers",
    "catalogue_plans",
    "code_file",
    "find_targets",
    "in_catalogue",
    "is_below_current_folder",
    "line_in",
    "load",
    "local_path",
    "reference_of",
    "suggestion",
    "targets_in",
    "unclaimed",
]
