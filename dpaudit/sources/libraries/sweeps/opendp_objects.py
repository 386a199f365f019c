"""OpenDP's constructors of measurements, and its combinators, each with standard arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opendp.mod import Measurement

BOUNDS = (0.0, 1.0)

COVERED = {
    "make_laplace": ("laplace_integers", "laplace_floats", "laplace_vectors"),
    "make_gaussian": ("gaussian_integers", "gaussian_floats", "gaussian_vectors"),
    "make_geometric": ("geometric",),
    "make_noise": ("noise",),
    "make_canonical_noise": ("canonical_noise",),
    "make_laplace_threshold": ("laplace_threshold",),
    "make_gaussian_threshold": ("gaussian_threshold",),
    "make_noise_threshold": ("noise_threshold",),
    "make_noisy_max": ("noisy_max", "noisy_max_concentrated"),
    "make_noisy_top_k": ("noisy_top_k",),
    "make_report_noisy_max_gumbel": ("report_noisy_max_gumbel",),
    "make_private_quantile": ("private_quantile",),
    "make_randomized_response": ("randomized_response",),
    "make_randomized_response_bool": ("randomized_response_bool",),
    "make_randomized_response_bitvec": ("randomized_response_bitvec",),
    "make_chain_mt": ("count", "sum_of_bounded"),
    "make_composition": ("composition",),
    "make_basic_composition": ("basic_composition",),
    "make_approximate": ("approximate",),
    "make_pureDP_to_zCDP": ("pure_to_concentrated",),
    "make_zCDP_to_approxDP": ("concentrated_to_profile",),
    "make_fix_delta": ("fixed_delta",),
}

_INTERACTIVE = "its releases are queryables, which answer several questions; only outputs of one call are audited"
_POLARS = "its inputs are Polars frames, for which no neighbours are derived"
_NO_RELEASE = "it makes a transformation or a postprocessor, not a release"

LEFT_OUT = {
    "make_alp_queryable": _INTERACTIVE,
    "make_adaptive_composition": _INTERACTIVE,
    "make_sequential_composition": _INTERACTIVE,
    "make_fully_adaptive_composition": _INTERACTIVE,
    "make_privacy_filter": _INTERACTIVE,
    "make_private_expr": _POLARS,
    "make_private_lazyframe": _POLARS,
    "make_user_measurement": "its function and its map are the user's own",
    "make_select_private_candidate": "its measurement must return scored candidates of the user's own",
    "make_population_amplification": "its claim is about samples that it does not draw",
    "make_fixed_approxDP_to_approxDP": "it is for measurements of an older version of the library",
    "make_chain_tt": _NO_RELEASE,
    "make_chain_pm": _NO_RELEASE,
}


def public() -> list[str]:
    """All public constructors of measurements, and all combinators."""
    import opendp.combinators
    import opendp.measurements

    return [
        name
        for module in (opendp.measurements, opendp.combinators)
        for name, value in sorted(vars(module).items())
        if name.startswith("make_") and getattr(value, "__module__", "") == module.__name__
    ]


def _dp() -> Any:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return dp


def _whole() -> tuple[Any, Any]:
    dp = _dp()
    return dp.atom_domain(T=int), dp.absolute_distance(T=int)


def _real() -> tuple[Any, Any]:
    dp = _dp()
    return dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)


def _counts(metric: str) -> tuple[Any, Any]:
    dp = _dp()
    return dp.vector_domain(dp.atom_domain(T=int)), getattr(dp, metric)(T=int)


def _keyed(metric: str) -> tuple[Any, Any]:
    dp = _dp()
    space = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int))
    return space, getattr(dp, metric)(dp.absolute_distance(T=int))


def _bounded() -> tuple[Any, Any]:
    dp = _dp()
    return dp.vector_domain(dp.atom_domain(bounds=BOUNDS, nan=False)), dp.symmetric_distance()


def laplace_integers() -> Measurement:
    """Make Laplace noise on an integer."""
    return _dp().m.make_laplace(*_whole(), scale=1.0)


def laplace_floats() -> Measurement:
    """Make Laplace noise on a float."""
    return _dp().m.make_laplace(*_real(), scale=1.0)


def laplace_vectors() -> Measurement:
    """Make Laplace noise on a vector of integers."""
    return _dp().m.make_laplace(*_counts("l1_distance"), scale=1.0)


def gaussian_integers() -> Measurement:
    """Make Gaussian noise on an integer."""
    return _dp().m.make_gaussian(*_whole(), scale=1.0)


def gaussian_floats() -> Measurement:
    """Make Gaussian noise on a float."""
    return _dp().m.make_gaussian(*_real(), scale=1.0)


def gaussian_vectors() -> Measurement:
    """Make Gaussian noise on a vector of floats."""
    dp = _dp()
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=3)
    return dp.m.make_gaussian(space, dp.l2_distance(T=float), scale=1.0)


def geometric() -> Measurement:
    """Make geometric noise within bounds."""
    return _dp().m.make_geometric(*_whole(), scale=1.0, bounds=(0, 10))


def noise() -> Measurement:
    """Make noise for a measure that is given."""
    dp = _dp()
    return dp.m.make_noise(*_whole(), dp.max_divergence(), scale=1.0)


def canonical_noise() -> Measurement:
    """Make canonical noise for (1, 0.001)."""
    return _dp().m.make_canonical_noise(*_real(), d_in=1.0, d_out=(1.0, 1e-3))


def laplace_threshold() -> Measurement:
    """Make Laplace noise on counts by key, of which small ones are left out."""
    return _dp().m.make_laplace_threshold(*_keyed("l01inf_distance"), scale=1.0, threshold=8)


def gaussian_threshold() -> Measurement:
    """Make Gaussian noise on counts by key, of which small ones are left out."""
    return _dp().m.make_gaussian_threshold(*_keyed("l02inf_distance"), scale=1.0, threshold=4)


def noise_threshold() -> Measurement:
    """Make noise for a measure that is given on counts by key."""
    dp = _dp()
    measure = dp.approximate(dp.max_divergence())
    return dp.m.make_noise_threshold(*_keyed("l01inf_distance"), measure, scale=1.0, threshold=8)


def noisy_max() -> Measurement:
    """Make the place of the largest noisy score."""
    dp = _dp()
    return dp.m.make_noisy_max(*_counts("linf_distance"), dp.max_divergence(), scale=2.0)


def noisy_max_concentrated() -> Measurement:
    """Make the place of the largest noisy score, for zero-concentrated privacy."""
    dp = _dp()
    return dp.m.make_noisy_max(*_counts("linf_distance"), dp.zero_concentrated_divergence(), scale=2.0)


def noisy_top_k() -> Measurement:
    """Make the places of the two largest noisy scores."""
    dp = _dp()
    return dp.m.make_noisy_top_k(*_counts("linf_distance"), dp.max_divergence(), k=2, scale=2.0)


def report_noisy_max_gumbel() -> Measurement:
    """Make the place of the largest score with Gumbel noise."""
    return _dp().m.make_report_noisy_max_gumbel(*_counts("linf_distance"), scale=2.0)


def private_quantile() -> Measurement:
    """Make the median among candidates."""
    dp = _dp()
    candidates = [0.0, 0.25, 0.5, 0.75, 1.0]
    return dp.m.make_private_quantile(*_bounded(), dp.max_divergence(), candidates=candidates, alpha=0.5, scale=1.0)


def randomized_response() -> Measurement:
    """Make randomized response on categories."""
    return _dp().m.make_randomized_response(["x", "y", "z"], 0.6)


def randomized_response_bool() -> Measurement:
    """Make randomized response on a bit."""
    return _dp().m.make_randomized_response_bool(0.75)


def randomized_response_bitvec() -> Measurement:
    """Make randomized response on bits."""
    dp = _dp()
    return dp.m.make_randomized_response_bitvec(dp.bitvector_domain(max_weight=2), dp.discrete_distance(), f=0.5)


def count() -> Measurement:
    """Make a count with Laplace noise."""
    dp = _dp()
    return _bounded() >> dp.t.then_count() >> dp.m.then_laplace(1.0)


def sum_of_bounded() -> Measurement:
    """Make a sum of bounded floats with Laplace noise."""
    dp = _dp()
    return _bounded() >> dp.t.then_sum() >> dp.m.then_laplace(1.0)


def composition() -> Measurement:
    """Make two releases of an integer."""
    return _dp().c.make_composition([laplace_integers(), laplace_integers()])


def basic_composition() -> Measurement:
    """Make two releases of an integer, by the older name."""
    return _dp().c.make_basic_composition([laplace_integers(), laplace_integers()])


def approximate() -> Measurement:
    """Make Laplace noise whose claim is approximate."""
    return _dp().c.make_approximate(laplace_integers())


def pure_to_concentrated() -> Measurement:
    """Make Laplace noise whose claim is zero-concentrated."""
    return _dp().c.make_pureDP_to_zCDP(laplace_integers())


def concentrated_to_profile() -> Measurement:
    """Make Gaussian noise whose claim is a privacy profile."""
    return _dp().c.make_zCDP_to_approxDP(gaussian_integers())


def fixed_delta() -> Measurement:
    """Make Gaussian noise whose claim is (epsilon, 0.01)."""
    return _dp().c.make_fix_delta(concentrated_to_profile(), 1e-2)
