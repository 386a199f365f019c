"""Audits of differential-privacy claims: is what the authors of a private algorithm say true.

Reference implementations are for auditing and research: they use a non-cryptographic generator and floating point.

Names are loaded when they are first used, so that importing dpaudit (as its pytest plugin does in every session) costs
next to nothing.
"""

import typing as _typing

if _typing.TYPE_CHECKING:
    from dpaudit import laws, messages, randomizers, rankings, testing
    from dpaudit.auditors import (
        LowerBound,
        OneRunBound,
        PrivacyBounds,
        SamplesBound,
        bound_from_samples,
        epsilon_lower_bound,
        one_run_bound,
        privacy_bounds,
        privacy_bounds_from_samples,
    )
    from dpaudit.auditors.counterexamples.derived import DerivedPairs
    from dpaudit.auditors.outputs.features import float_bits
    from dpaudit.claims.claims import (
        Claim,
        FigureClaim,
        LemmaClaim,
        PrivacyClaim,
        RateClaim,
        StabilityClaim,
        UtilityClaim,
    )
    from dpaudit.claims.datasets import Dataset, DatasetLoader
    from dpaudit.claims.declarations import Between, Declaration, claim
    from dpaudit.claims.domains import Choices, Datasets, Floats, Integers, Nullable, RankingProfiles, Reals, Rows
    from dpaudit.claims.evidence import Counterexample, Curves, Evidence, Interval, Remedy, Role, Violation
    from dpaudit.claims.guarantees import (
        ApproximateDP,
        GaussianDP,
        Guarantee,
        PrivacyProfile,
        RenyiCurve,
        RenyiDP,
        TradeOff,
        ZeroConcentratedDP,
    )
    from dpaudit.claims.inputs import AnyTwo, DrawnPairs, InputDomain, Records, Vectors
    from dpaudit.claims.neighbouring import Neighbouring
    from dpaudit.claims.noise import NoiseClaim, NoiseFunction
    from dpaudit.claims.papers import Assertion, Erratum, Paper, Place
    from dpaudit.claims.record import Record, Result, read_record
    from dpaudit.claims.verdicts import Verdict
    from dpaudit.composition import Composed, PoissonSubsampled, Repeated, SampledWithoutReplacement, ShuffledBatches
    from dpaudit.controls import control
    from dpaudit.errors import (
        CheckError,
        DataError,
        DpauditError,
        OutputError,
        ParameterError,
        PlanError,
        RecordError,
        TargetError,
        TargetRaisedError,
        WitnessError,
    )
    from dpaudit.laws import (
        DiscreteGaussianLaw,
        DiscreteLaplaceLaw,
        FiniteLaw,
        GaussianLaw,
        LaplaceLaw,
        Law,
        ProductLaw,
        PublicMixtureLaw,
        compare,
    )
    from dpaudit.mechanism import Mechanism, parameter
    from dpaudit.messages import Message, Transcript
    from dpaudit.rankings import Profiles
    from dpaudit.registry import load
    from dpaudit.runner.check import check
    from dpaudit.runner.verify import Verification, verify
    from dpaudit.sources.commands import CommandMechanism
    from dpaudit.sources.libraries.diffprivlib_objects import from_diffprivlib
    from dpaudit.sources.libraries.opendp_objects import from_opendp
    from dpaudit.sources.libraries.pure_ldp_objects import from_pure_ldp
    from dpaudit.sources.noise import NoiseCall, record_noise
    from dpaudit.training import AccountantVerdict, NoisySteps
else:  # Hidden from type checkers, which would take any name whatever for one that exists.

    def __getattr__(name: str) -> object:
        from importlib import import_module

        home = _HOMES.get(name)
        if home is None:
            raise AttributeError(f"module 'dpaudit' has no attribute {name!r}{_suggestion(name)}")
        module = import_module(home)
        value = module if home == f"{__name__}.{name}" else getattr(module, name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """Public names, and those by which Python describes a module: not the submodules that happen to be loaded."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


def _suggestion(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, __all__, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


__all__ = [
    "AccountantVerdict",
    "AnyTwo",
    "ApproximateDP",
    "Assertion",
    "Between",
    "CheckError",
    "Choices",
    "Claim",
    "CommandMechanism",
    "Composed",
    "Counterexample",
    "Curves",
    "DataError",
    "Dataset",
    "DatasetLoader",
    "Datasets",
    "Declaration",
    "DerivedPairs",
    "DiscreteGaussianLaw",
    "DiscreteLaplaceLaw",
    "DpauditError",
    "DrawnPairs",
    "Erratum",
    "Evidence",
    "FigureClaim",
    "FiniteLaw",
    "Floats",
    "GaussianDP",
    "GaussianLaw",
    "Guarantee",
    "InputDomain",
    "Integers",
    "Interval",
    "LaplaceLaw",
    "Law",
    "LemmaClaim",
    "LowerBound",
    "Mechanism",
    "Message",
    "Neighbouring",
    "NoiseCall",
    "NoiseClaim",
    "NoiseFunction",
    "NoisySteps",
    "Nullable",
    "OneRunBound",
    "OutputError",
    "Paper",
    "ParameterError",
    "Place",
    "PlanError",
    "PoissonSubsampled",
    "PrivacyBounds",
    "PrivacyClaim",
    "PrivacyProfile",
    "ProductLaw",
    "Profiles",
    "PublicMixtureLaw",
    "RankingProfiles",
    "RateClaim",
    "Reals",
    "Record",
    "RecordError",
    "Records",
    "Remedy",
    "RenyiCurve",
    "RenyiDP",
    "Repeated",
    "Result",
    "Role",
    "Rows",
    "SampledWithoutReplacement",
    "SamplesBound",
    "ShuffledBatches",
    "StabilityClaim",
    "TargetError",
    "TargetRaisedError",
    "TradeOff",
    "Transcript",
    "UtilityClaim",
    "Vectors",
    "Verdict",
    "Verification",
    "Violation",
    "WitnessError",
    "ZeroConcentratedDP",
    "bound_from_samples",
    "check",
    "claim",
    "compare",
    "control",
    "epsilon_lower_bound",
    "float_bits",
    "from_diffprivlib",
    "from_opendp",
    "from_pure_ldp",
    "laws",
    "load",
    "messages",
    "one_run_bound",
    "parameter",
    "privacy_bounds",
    "privacy_bounds_from_samples",
    "randomizers",
    "rankings",
    "read_record",
    "record_noise",
    "testing",
    "verify",
]

_HOMES = {
    name: home
    for home, names in {
        "dpaudit.auditors": (
            "LowerBound",
            "OneRunBound",
            "PrivacyBounds",
            "SamplesBound",
            "bound_from_samples",
            "epsilon_lower_bound",
            "one_run_bound",
            "privacy_bounds",
            "privacy_bounds_from_samples",
        ),
        "dpaudit.auditors.counterexamples.derived": ("DerivedPairs",),
        "dpaudit.auditors.outputs.features": ("float_bits",),
        "dpaudit.registry": ("load",),
        "dpaudit.claims.claims": (
            "Claim",
            "FigureClaim",
            "LemmaClaim",
            "PrivacyClaim",
            "RateClaim",
            "StabilityClaim",
            "UtilityClaim",
        ),
        "dpaudit.claims.datasets": ("Dataset", "DatasetLoader"),
        "dpaudit.claims.declarations": ("Between", "Declaration", "claim"),
        "dpaudit.claims.domains": (
            "Choices",
            "Datasets",
            "Floats",
            "Integers",
            "Nullable",
            "RankingProfiles",
            "Reals",
            "Rows",
        ),
        "dpaudit.claims.evidence": (
            "Counterexample",
            "Curves",
            "Evidence",
            "Interval",
            "Remedy",
            "Role",
            "Violation",
        ),
        "dpaudit.claims.guarantees": (
            "ApproximateDP",
            "GaussianDP",
            "Guarantee",
            "PrivacyProfile",
            "RenyiCurve",
            "RenyiDP",
            "TradeOff",
            "ZeroConcentratedDP",
        ),
        "dpaudit.claims.inputs": ("AnyTwo", "DrawnPairs", "InputDomain", "Records", "Vectors"),
        "dpaudit.claims.neighbouring": ("Neighbouring",),
        "dpaudit.claims.noise": ("NoiseClaim", "NoiseFunction"),
        "dpaudit.claims.papers": ("Assertion", "Erratum", "Paper", "Place"),
        "dpaudit.claims.record": ("Record", "Result", "read_record"),
        "dpaudit.claims.verdicts": ("Verdict",),
        "dpaudit.composition": (
            "Composed",
            "PoissonSubsampled",
            "Repeated",
            "SampledWithoutReplacement",
            "ShuffledBatches",
        ),
        "dpaudit.controls": ("control",),
        "dpaudit.training": ("AccountantVerdict", "NoisySteps"),
        "dpaudit.errors": (
            "CheckError",
            "DataError",
            "DpauditError",
            "OutputError",
            "ParameterError",
            "PlanError",
            "RecordError",
            "TargetError",
            "TargetRaisedError",
            "WitnessError",
        ),
        "dpaudit.laws": (
            "DiscreteGaussianLaw",
            "DiscreteLaplaceLaw",
            "FiniteLaw",
            "GaussianLaw",
            "LaplaceLaw",
            "Law",
            "ProductLaw",
            "PublicMixtureLaw",
            "compare",
            "laws",
        ),
        "dpaudit.mechanism": ("Mechanism", "parameter"),
        "dpaudit.messages": ("Message", "Transcript", "messages"),
        "dpaudit.randomizers": ("randomizers",),
        "dpaudit.rankings": ("Profiles", "rankings"),
        "dpaudit.runner.check": ("check",),
        "dpaudit.runner.verify": ("Verification", "verify"),
        "dpaudit.sources.commands": ("CommandMechanism",),
        "dpaudit.sources.libraries.diffprivlib_objects": ("from_diffprivlib",),
        "dpaudit.sources.libraries.opendp_objects": ("from_opendp",),
        "dpaudit.sources.libraries.pure_ldp_objects": ("from_pure_ldp",),
        "dpaudit.sources.noise": ("NoiseCall", "record_noise"),
        "dpaudit.testing": ("testing",),
    }.items()
    for name in names
}
"""Where each public name is found; a submodule is its own."""
