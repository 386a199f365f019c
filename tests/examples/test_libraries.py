"""Objects of the libraries themselves are audited by their names alone; skipped without the libraries.

OpenDP cannot be seeded, so every run is held to a confidence of 1 - 1e-6.
"""

import doctest
import importlib
import math
import os
from pathlib import Path

import pytest

import dpaudit
from dpaudit.registry import find_targets

FOLDER = Path(__file__).parents[2] / "examples" / "libraries"
CONFIDENCE = 1 - 1e-6
TARGETS = {
    "opendp": ("opendp.prelude", "measurements.py"),
    "diffprivlib": ("diffprivlib", "mechanisms.py"),
    "pure-ldp": ("pure_ldp.frequency_oracles", "clients.py"),
}


def needs(library):
    module, name = TARGETS[library]
    try:
        importlib.import_module(module)
    except ImportError as error:
        reason = f"{library} needs the extra `peers`, which `make examples` installs: {error}"
        if os.environ.get("DPAUDIT_REQUIRE_PEERS"):
            pytest.fail(reason)
        pytest.skip(reason)
    return f"{library}:{FOLDER / name}"


def results(target, **options):
    record = dpaudit.check(target, confidence=CONFIDENCE, **options)
    return {result.target: result for result in record.results}


@pytest.mark.slow
@pytest.mark.parametrize("library", list(TARGETS))
def test_the_example_in_the_reference_runs(library):
    needs(library)
    made = getattr(dpaudit, f"from_{library.replace('-', '_')}")
    examples = doctest.DocTestParser().get_doctest(made.__doc__, {}, library, None, 0)
    said = []
    result = doctest.DocTestRunner().run(examples, out=said.append)
    assert result.attempted >= 3
    assert not result.failed, "".join(said)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("library", "names"),
    [
        ("opendp", {"count", "total", "coordinates"}),
        ("diffprivlib", {"votes", "best", "mean"}),
        ("pure-ldp", {"direct", "hashed"}),
    ],
)
def test_all_objects_of_a_file_are_consistent_with_what_they_say(library, names):
    found = results(needs(library), samples=10_000)
    assert set(found) == names
    assert {result.verdict for result in found.values()} == {"consistent"}


def test_a_claim_is_what_the_library_computes():
    target = needs("opendp")
    (reference,) = find_targets(f"{target}::total")
    made = reference.load()
    # A record of at most 90 is added: 90 / 90.
    assert made().claims()[0].guarantee == dpaudit.ApproximateDP(1.0)
    assert made(d_in=2).claims()[0].guarantee == dpaudit.ApproximateDP(2.0)
    assert {90, 18} <= {record for pair in made().neighbours() for data in pair for record in data}


@pytest.mark.slow
def test_a_measurement_that_promises_half_of_its_loss_is_refuted():
    needs("opendp")
    import opendp.prelude as dp

    dp.enable_features("contrib", "honest-but-curious")
    space = dp.atom_domain(T=int), dp.absolute_distance(T=int)
    noisy = dp.m.make_laplace(*space, scale=1.0)
    wrong = dp.m.make_user_measurement(*space, dp.max_divergence(), noisy, lambda d_in: d_in / 2, TO=int)
    (result,) = dpaudit.check(dpaudit.from_opendp(wrong), samples=10_000, confidence=CONFIDENCE).results
    assert (result.verdict, result.claimed["epsilon"]) == ("refuted", 0.5)
    assert 0.5 < result.measured["epsilon"].lower <= 1


@pytest.mark.parametrize("library", TARGETS)
def test_a_sweep_names_every_public_constructor_once_and_gives_a_reason_for_each_that_it_leaves_out(library):
    needs(library)
    from dpaudit.sources.libraries.sweeps import sweep_of

    found = sweep_of(library)
    names = [each.constructor for each in found.constructors]
    assert len(names) == len(set(names)) >= 10
    assert all(bool(each.targets) or bool(each.reason) for each in found.constructors)
    assert sum(bool(each.targets) for each in found.constructors) >= 5
    unknown = [each.constructor for each in found.constructors if "no standard arguments" in each.reason]
    assert not unknown
    # The coverage finds the results of a target by its name.
    targets = [target for each in found.constructors for target in each.targets]
    assert len(targets) == len(set(targets)) == len(found.targets)


@pytest.mark.slow
def test_a_sweep_of_opendp_audits_its_transformations_by_the_distance_that_they_promise():
    needs("opendp")
    from dpaudit.sources.libraries.sweeps import opendp_transformation_objects as made

    for (name,) in made.COVERED.values():
        (claim,) = dpaudit.from_opendp(getattr(made, name)()).claims()
        assert claim.kind == "stability"
        assert claim.map(2) < math.inf
    (clamp,) = dpaudit.check(dpaudit.from_opendp(made.clamp()), samples=2000).results
    assert clamp.verdict == "consistent"


def test_randomized_response_is_tried_on_its_own_categories():
    needs("opendp")
    import opendp.prelude as dp

    dp.enable_features("contrib")
    response = dpaudit.from_opendp(dp.m.make_randomized_response(["x", "y", "z"], 0.6))
    # With probability 0.6 the category, and 0.2 each other one.
    assert response.claims()[0].guarantee.epsilon == pytest.approx(math.log(3))
    assert ("x", "y") in list(response.neighbours())
