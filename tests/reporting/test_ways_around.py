"""The ways around the pages: anchors that can be cited, the glossary, code and plan, and maps that fold."""

import re
from collections.abc import Callable
from dataclasses import replace

from dpaudit.claims.entries import ClaimEntry, PaperEntry
from dpaudit.claims.record import Record, Result
from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting import html_files, render_html
from dpaudit.reporting.glossary import GLOSSARY, with_links
from dpaudit.reporting.groups import group_results
from dpaudit.reporting.regions import folded, region_maps

Make = Callable[..., Record]
MakeResult = Callable[..., Result]


def test_a_claim_is_cited_by_its_id(make_record: Make, make_result: MakeResult) -> None:
    names = [("coin", "a2020.theorem1"), ("dice", "a2020.theorem1"), ("coin", "results"), ("coin", "a b.c")]
    record = make_record(*(make_result(target=target, claim=name) for target, name in names))
    anchors = {(target.name, claim.claim): claim.anchor for target in group_results(record) for claim in target.claims}
    assert [anchors[name] for name in names] == ["a2020.theorem1", "claim-2", "claim-3", "claim-4"]
    page = render_html(record)
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(ids)


def test_links_lead_to_code_and_plan_where_the_way_is_known(make_paper: Make) -> None:
    record = make_paper(theorem1=({"theorem": 1}, [Verdict.PROVED]))
    name, entry = next(iter(record.claims.items()))
    record = replace(record, claims={name: replace(entry, definition="protocols/ames2020/claims.py")})
    known = html_files({"ames2020": record}, root="../..")["ames2020.html"]
    assert 'href="../../protocols/ames2020/claims.py#:~:text=theorem1"' in known
    assert 'href="../../audits/ames2020.toml"' in known
    assert 'href="index.html"' in known
    alone = render_html(record)
    assert "<code>protocols/ames2020/claims.py</code>" in alone
    assert ".toml" not in alone
    assert "index.html" not in alone


def test_a_paper_has_its_title_authors_and_addresses(make_record: Make, make_result: MakeResult) -> None:
    paper = PaperEntry(
        title="On <coins>", authors=("Ames", "Best"), year=2020, venue="Coins 3", doi="10.1/x", url="https://x.org/1"
    )
    claims = {"a2020.theorem1": ClaimEntry(kind="privacy", statement="It is.", paper="a2020")}
    record = make_record(make_result(claim="a2020.theorem1"), papers={"a2020": paper}, claims=claims)
    page = render_html(record, paper="a2020")
    assert "Ames, Best. Coins 3. 2020." in page
    assert 'href="https://doi.org/10.1/x"' in page
    assert '<a href="https://x.org/1">' in page
    assert "On &lt;coins&gt;" in page
    unsafe = replace(record, papers={"a2020": replace(paper, url="javascript:alert(1)")})
    assert 'href="javascript' not in render_html(unsafe, paper="a2020")


def test_words_lead_to_their_meaning(make_record: Make, make_result: MakeResult) -> None:
    assert with_links("tightness 2; tightness <1") == ('<a href="#term-tightness">tightness</a> 2; tightness &lt;1')
    assert with_links("overview") == "overview"
    page = render_html(make_record(make_result()))
    for term in GLOSSARY:
        assert page.count(f'id="term-{term.anchor}"') == 1


def test_maps_of_one_verdict_fold_into_a_sentence(make_record: Make, make_result: MakeResult) -> None:
    results = [
        make_result(
            Verdict.REFUTED if queries == 2 and epsilon == 3.0 else Verdict.PROVED,
            parameters={"epsilon": epsilon, "agents": agents, "queries": queries},
        )
        for queries in (1, 2)
        for agents in (10, 20)
        for epsilon in (1.0, 2.0, 3.0)
    ]
    ((claim,),) = (target.claims for target in group_results(make_record(*results)))
    maps, sentences = folded(region_maps(claim))
    assert [each.setting for each in maps] == ["queries=2"]
    assert sentences == ("proved at every audited pair of agents and epsilon, with queries=1 (6 settings)",)
