"""The claims of Shang, Wang, Cuff, Kulkarni 2014 as the catalogue lists them."""

import dpaudit.catalog.shang2014 as package
from dpaudit.plan import read_plan
from dpaudit.registry import catalogue_papers

(PAPER,) = (entry for key, entry in catalogue_papers().items() if key == "shang2014")
CLAIMS = [declaration for declaration in PAPER.declarations if not declaration.bug]


FINER = {"shang2014.gaussian-dp", "shang2014.concentrated"}
"""What the mechanisms satisfy in finer notions: ours, in a module of their own."""


def test_claims_are_declared_and_audited_in_the_papers_order():
    theirs = [claim for claim in CLAIMS if claim.id not in FINER]
    assert PAPER.paper is package.PAPER
    assert theirs == sorted(theirs, key=lambda claim: claim.place.sort_key)
    planned = list(dict.fromkeys(audit.claim for audit in read_plan(PAPER.plan).audits))
    planned = [claim for claim in planned if claim not in FINER]
    assert planned == [declaration.id for declaration in PAPER.declarations if declaration.id not in FINER]


def test_every_claim_can_be_bound_at_the_defaults():
    for declaration in PAPER.declarations:
        (target,) = declaration.targets
        assert declaration.bind(target()).id == declaration.id


OURS_BESIDES = {
    "shang2014.figure2-other-m",
    "shang2014.theorem1-every-epsilon",
    "shang2014.laplace-errs-less",
    "shang2014.laplace-less-noise",
    "shang2014.theorem1-scaled",
    "shang2014.theorem1-substitution",
    "shang2014.theorem3-independent",
}


def test_corrected_statements_are_ours_and_readings_are_the_papers():
    corrected = {claim.id for claim in CLAIMS if claim.id.endswith(("-corrected", "-mended", "-reversed"))}
    assert {claim.id for claim in CLAIMS if claim.ours} == corrected | OURS_BESIDES | FINER
    assert not any(claim.ours for claim in CLAIMS if claim.id.endswith("-meant"))
