"""OpenDP's constructors of transformations, each with standard arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opendp.mod import Transformation

WHOLE, REAL, SIZE, CATEGORIES = (-10, 10), (0.0, 1.0), 4, [0, 1, 2]

COVERED = {
    f"make_{name}": (name,)
    for name in (
        "b_ary_tree",
        "bounded_float_ordered_sum",
        "bounded_int_monotonic_sum",
        "bounded_int_ordered_sum",
        "bounded_int_split_sum",
        "cast",
        "cast_default",
        "cast_inherent",
        "clamp",
        "count_by_categories",
        "count_distinct",
        "drop_null",
        "find",
        "find_bin",
        "identity",
        "impute_constant",
        "index",
        "is_equal",
        "is_null",
        "lipschitz_float_mul",
        "mean",
        "metric_bounded",
        "metric_unbounded",
        "quantile_score_candidates",
        "sized_bounded_float_checked_sum",
        "sized_bounded_float_ordered_sum",
        "sized_bounded_int_checked_sum",
        "sized_bounded_int_monotonic_sum",
        "sized_bounded_int_ordered_sum",
        "sized_bounded_int_split_sum",
        "sum_of_squared_deviations",
        "unordered",
        "variance",
    )
} | {"make_count": ("count_records",), "make_sum": ("sum_records",)}

_RANDOM = "its outputs are random, and a stability claim is about what is deterministic"
_POSTPROCESSOR = "it makes a postprocessor, which promises no distance"
_FRAMES = "its inputs or outputs are frames, or lines of text, for which no inputs are derived"

LEFT_OUT = {
    "make_bounded_float_checked_sum": "it draws a sample where there are more records than its limit",
    "make_impute_uniform_float": _RANDOM,
    "make_ordered_random": _RANDOM,
    "make_resize": _RANDOM,
    "make_cdf": _POSTPROCESSOR,
    "make_consistent_b_ary_tree": _POSTPROCESSOR,
    "make_quantiles_from_counts": _POSTPROCESSOR,
    "make_create_dataframe": _FRAMES,
    "make_df_cast_default": _FRAMES,
    "make_df_is_equal": _FRAMES,
    "make_select_column": _FRAMES,
    "make_split_dataframe": _FRAMES,
    "make_split_lines": _FRAMES,
    "make_split_records": _FRAMES,
    "make_stable_expr": _FRAMES,
    "make_stable_lazyframe": _FRAMES,
    "make_subset_by": _FRAMES,
    "make_count_by": "its outputs are at a distance of three numbers, of which dpaudit knows no order",
    "make_user_transformation": "its function and its map are the user's own",
}


def public() -> list[str]:
    """All public constructors of transformations."""
    import opendp.transformations as module

    return [
        name
        for name, value in sorted(vars(module).items())
        if name.startswith("make_") and getattr(value, "__module__", "") == module.__name__
    ]


def _dp() -> Any:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return dp


def _whole(metric: str = "symmetric_distance", **domain: Any) -> tuple[Any, Any]:
    dp = _dp()
    return dp.vector_domain(dp.atom_domain(T=int), **domain), getattr(dp, metric)()


def _bounded(**domain: Any) -> tuple[Any, Any]:
    dp = _dp()
    return dp.vector_domain(dp.atom_domain(bounds=REAL, nan=False), **domain), dp.symmetric_distance()


def _real() -> tuple[Any, Any]:
    dp = _dp()
    return dp.vector_domain(dp.atom_domain(T=float)), dp.symmetric_distance()


def _texts() -> tuple[Any, Any]:
    dp = _dp()
    return dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()


def b_ary_tree() -> Transformation:
    """Make sums of leaves in a tree."""
    dp = _dp()
    space = dp.vector_domain(dp.atom_domain(T=int), size=SIZE), dp.l1_distance(T=int)
    return dp.t.make_b_ary_tree(*space, leaf_count=SIZE, branching_factor=2)


def bounded_float_ordered_sum() -> Transformation:
    """Make a sum of floats in their order."""
    return _dp().t.make_bounded_float_ordered_sum(size_limit=8, bounds=REAL)


def bounded_int_monotonic_sum() -> Transformation:
    """Make a sum of whole numbers of one sign."""
    return _dp().t.make_bounded_int_monotonic_sum(bounds=(0, 10))


def bounded_int_ordered_sum() -> Transformation:
    """Make a sum of whole numbers in their order."""
    return _dp().t.make_bounded_int_ordered_sum(bounds=WHOLE)


def bounded_int_split_sum() -> Transformation:
    """Make a sum of whole numbers by sign."""
    return _dp().t.make_bounded_int_split_sum(bounds=WHOLE)


def cast() -> Transformation:
    """Make numbers of texts, or none, which are then 0: OpenDP hands no vectors with None to Python."""
    dp = _dp()
    return dp.t.make_cast(*_texts(), TOA=int) >> dp.t.then_impute_constant(0)


def cast_default() -> Transformation:
    """Make numbers of texts, or 0."""
    return _dp().t.make_cast_default(*_texts(), TOA=int)


def cast_inherent() -> Transformation:
    """Make floats of whole numbers."""
    return _dp().t.make_cast_inherent(*_whole(), TOA=float)


def clamp() -> Transformation:
    """Make whole numbers within bounds."""
    return _dp().t.make_clamp(*_whole(), bounds=WHOLE)


def count_records() -> Transformation:
    """Make a count."""
    return _dp().t.make_count(*_whole())


def count_by_categories() -> Transformation:
    """Make counts by category."""
    return _dp().t.make_count_by_categories(*_whole(), categories=CATEGORIES)


def count_distinct() -> Transformation:
    """Make a count of different records."""
    return _dp().t.make_count_distinct(*_whole())


def drop_null() -> Transformation:
    """Make records that are not NaN."""
    return _dp().t.make_drop_null(*_real())


def find() -> Transformation:
    """Make places in a list of categories, or none, which are then the number of categories."""
    dp = _dp()
    return dp.t.make_find(*_whole(), categories=CATEGORIES) >> dp.t.then_impute_constant(len(CATEGORIES))


def find_bin() -> Transformation:
    """Make places among edges."""
    return _dp().t.make_find_bin(*_whole(), edges=[-1, 0, 1])


def identity() -> Transformation:
    """Make the same records."""
    dp = _dp()
    dp.enable_features("honest-but-curious")
    return dp.t.make_identity(*_whole())


def impute_constant() -> Transformation:
    """Make floats without NaN."""
    return _dp().t.make_impute_constant(*_real(), constant=0.0)


def index() -> Transformation:
    """Make categories of places."""
    dp = _dp()
    space = dp.vector_domain(dp.atom_domain(T="usize")), dp.symmetric_distance()
    return dp.t.make_index(*space, categories=["x", "y"], null="z")


def is_equal() -> Transformation:
    """Make truth values: equal to a value."""
    return _dp().t.make_is_equal(*_whole(), value=1)


def is_null() -> Transformation:
    """Make truth values: missing."""
    return _dp().t.make_is_null(*_real())


def lipschitz_float_mul() -> Transformation:
    """Make a multiple of a float."""
    dp = _dp()
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    return dp.t.make_lipschitz_float_mul(*space, constant=0.3, bounds=REAL)


def mean() -> Transformation:
    """Make a mean of a known number of floats."""
    return _dp().t.make_mean(*_bounded(size=SIZE))


def metric_bounded() -> Transformation:
    """Make a distance by replacements."""
    return _dp().t.make_metric_bounded(*_whole(size=SIZE))


def metric_unbounded() -> Transformation:
    """Make a distance by additions and removals."""
    return _dp().t.make_metric_unbounded(*_whole("change_one_distance", size=SIZE))


def quantile_score_candidates() -> Transformation:
    """Make scores of candidates for a median."""
    return _dp().t.make_quantile_score_candidates(*_whole(), candidates=[-1, 0, 1], alpha=0.5)


def sized_bounded_float_checked_sum() -> Transformation:
    """Make a sum of a known number of floats."""
    return _dp().t.make_sized_bounded_float_checked_sum(SIZE, bounds=REAL)


def sized_bounded_float_ordered_sum() -> Transformation:
    """Make a sum of a known number of floats in their order."""
    return _dp().t.make_sized_bounded_float_ordered_sum(SIZE, bounds=REAL)


def sized_bounded_int_checked_sum() -> Transformation:
    """Make a sum of a known number of whole numbers."""
    return _dp().t.make_sized_bounded_int_checked_sum(SIZE, bounds=WHOLE)


def sized_bounded_int_monotonic_sum() -> Transformation:
    """Make a sum of a known number of whole numbers of one sign."""
    return _dp().t.make_sized_bounded_int_monotonic_sum(SIZE, bounds=(0, 10))


def sized_bounded_int_ordered_sum() -> Transformation:
    """Make a sum of a known number of whole numbers in their order."""
    return _dp().t.make_sized_bounded_int_ordered_sum(SIZE, bounds=WHOLE)


def sized_bounded_int_split_sum() -> Transformation:
    """Make a sum of a known number of whole numbers by sign."""
    return _dp().t.make_sized_bounded_int_split_sum(SIZE, bounds=WHOLE)


def sum_records() -> Transformation:
    """Make a sum of floats within bounds."""
    return _dp().t.make_sum(*_bounded(size=SIZE))


def sum_of_squared_deviations() -> Transformation:
    """Make the sum of squared deviations of a known number of floats."""
    return _dp().t.make_sum_of_squared_deviations(*_bounded(size=SIZE))


def unordered() -> Transformation:
    """Make records whose order does not count."""
    return _dp().t.make_unordered(*_whole("insert_delete_distance"))


def variance() -> Transformation:
    """Make a variance of a known number of floats."""
    return _dp().t.make_variance(*_bounded(size=SIZE))
