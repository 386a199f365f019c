"""What files and targets hold cannot steer a terminal, turn the direction of reading, or become markup."""

import json
import re
import xml.etree.ElementTree as ET

import pytest
from markdown_it import MarkdownIt

from dpaudit.claims.entries import AssertionEntry, ClaimEntry, ErratumEntry, PaperEntry
from dpaudit.claims.evidence import Counterexample, Interval, Violation
from dpaudit.claims.record import Record, Result, SystemEntry, summarise
from dpaudit.claims.verdicts import Verdict, status_of
from dpaudit.escapes import visible
from dpaudit.reporting import FORMATS, html_files, report_files
from dpaudit.reporting.compare import compare_records, render_comparison
from dpaudit.reporting.markdown import escape

HIDDEN = [
    *map(chr, (0, 7, 8, 0x0B, 0x0C, 0x0E, 0x1B, 0x1F, 0x7F, 0x80, 0x85, 0x9B, 0x9F)),
    *"\u061c\u200b\u200e\u200f\u2028\u2029\u202a\u202e\u2060\u2066\u2069\ufeff\ufffe\uffff\ud800\udfff",
    "\U000e0041",
]
UNSEEN = "".join(f"{number}{hidden}" for number, hidden in enumerate(HIDDEN))
ADDRESSES = "see http://evil.example/x, HTTPS://evil.example, www.evil.example, me@evil.example, mailto:me@evil.example"
HOSTILE = f"{UNSEEN} <script>alert(1)</script> {ADDRESSES} ]]> | `x` **y** [z](javascript:alert(1))"


def result(verdict, witness=None, **changes):
    values = {
        "target": f"coin {HOSTILE}",
        "claim": f"claim {HOSTILE}",
        "kind": "privacy" if isinstance(witness, Violation) or witness is None else "lemma",
        "source": HOSTILE,
        "statement": HOSTILE,
        "parameters": {HOSTILE: HOSTILE, "epsilon": 1.0},
        "view": HOSTILE,
        "relation": HOSTILE,
        "scope": HOSTILE,
        "method": f"exact {HOSTILE}",
        "verdict": verdict,
        "expected": None,
        "reason": HOSTILE,
        "ok": status_of(verdict, None) == 0,
        "claimed": {"epsilon": 1.0},
        "measured": {"epsilon": Interval.exact(2.0), HOSTILE: Interval.exact(0.5)},
        "witness": witness,
        "note": f"{HOSTILE}\n{HOSTILE}\r\n{HOSTILE}",
        "seed": 0,
        "command": f"dpaudit check 'coin {HOSTILE}'",
        "witness_file": f"out/witnesses/{UNSEEN}.json",
    }
    return Result(**(values | changes))


@pytest.fixture(scope="module")
def record():
    found = (
        result(Verdict.REFUTED, Violation(data=HOSTILE, neighbour=[HOSTILE], event={HOSTILE: 1}, p=1, q=0, forces={})),
        result(
            Verdict.REFUTED,
            Counterexample(instance=HOSTILE, quantity=HOSTILE, measured=2, claimed=1, direction="at-most"),
            claim=f"lemma {HOSTILE}",
        ),
        result(Verdict.PROVED, parameters={"epsilon": 2.0}),
        result(Verdict.PROVED, claim=f"lemma {HOSTILE}", parameters={HOSTILE: HOSTILE}),
        result(Verdict.ERROR, method="raised", parameters={"epsilon": 3.0}, measured={}),
    )
    erratum = ErratumEntry(where=HOSTILE, printed=HOSTILE, meant=HOSTILE, reason=HOSTILE, systems=(HOSTILE,))
    claims = {each.claim: ClaimEntry(kind=each.kind, statement=HOSTILE, source=HOSTILE, paper="evil") for each in found}
    claims[found[0].claim] = ClaimEntry(
        kind="privacy",
        statement=HOSTILE,
        paper="evil",
        definition=f"{HOSTILE}:{HOSTILE}",
        mends=(f"lemma {HOSTILE}",),
    )
    return Record(
        version=HOSTILE,
        seed=0,
        command=f"dpaudit check '{HOSTILE}'",
        papers={
            "evil": PaperEntry(
                title=HOSTILE,
                authors=(HOSTILE,),
                year=2020,
                venue=HOSTILE,
                url=f"javascript:{HOSTILE}",
                errata=(erratum,),
                left_alone=(AssertionEntry(where=HOSTILE, says=HOSTILE, reason=HOSTILE),),
            )
        },
        systems={found[0].target: SystemEntry(title=HOSTILE, description=HOSTILE, source=HOSTILE, errata=(erratum,))},
        claims=claims,
        results=found,
        summary=summarise(found),
        environment={HOSTILE: HOSTILE},
    )


@pytest.fixture(scope="module")
def pages(record):
    other = Record(version="1", seed=1, results=record.results[1:], summary=summarise(record.results[1:]))
    comparison = compare_records(record, other)
    return {
        **{name: render(record) for name, render in FORMATS.items()},
        **report_files({"evil": record}),
        **html_files({"evil": record}),
        **{f"comparison.{form}": render_comparison(comparison, form) for form in ("text", "json", "markdown")},
    }


def test_nothing_hidden_is_in_any_format(pages):
    for name, page in pages.items():
        found = sorted({hidden for hidden in HIDDEN if hidden in page})
        assert not found, (name, found)
        page.encode("utf-8")
        # It is not dropped either: U+001B stands for all.
        assert "u001b" in page or name == "README.md", name


def test_json_means_the_same(record, pages):
    again = Record.from_json(pages["json"])
    assert again == record
    assert json.loads(pages["json"])["environment"] == {HOSTILE: HOSTILE}
    assert json.loads(pages["comparison.json"])["changes"][0]["target"] == record.results[0].target


def test_xml_can_be_read(pages):
    root = ET.fromstring(pages["junit"])
    assert len(root.findall(".//testcase")) == 5
    assert not re.search("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", pages["junit"])


def test_markdown_has_no_link_and_no_markup_of_others(pages):
    for name in ("markdown", "evil.md", "README.md", "comparison.markdown"):
        tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(pages[name])
        inline = [token for block in tokens for token in block.children or ()]
        targets = [token.attrGet("href") for token in inline if token.type == "link_open"]
        assert not [
            target
            for target in targets
            if re.match("(?i)[a-z]+:|www", target) or "evil.example" in target.split("/")[0]
        ]
        tags = {token.content for token in inline if token.type == "html_inline"}
        assert not [tag for tag in tags if not re.fullmatch(r'<!-- -->|</?a( id="[%\w./~-]*")?>', tag)]
        prose = re.sub(r"(?s)^(`{3,}).*?^\1$", "", pages[name], flags=re.MULTILINE)
        # Nothing is a link in code.
        prose = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", prose)
        assert not re.search(r"(?i)https?://|www\.|mailto:|\w@\w", re.sub(r"\]\([^)]*\)|<[^>]*>", "]", prose)), name


@pytest.mark.parametrize(
    "text", ["- a", "+ a", "1. a", "12) a", "=== a", "---", "# a", "> a", "    a", "* a", "~~~", "| a |"]
)
def test_a_text_of_its_own_line_is_a_paragraph(text):
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(escape(text))
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    assert "".join(token.content for token in tokens[1].children) == text.strip()


@pytest.mark.parametrize("hidden", HIDDEN, ids=lambda hidden: f"U+{ord(hidden):04X}")
def test_each_is_spelt_out(hidden):
    assert json.loads(f'"{visible(hidden)}"') == hidden
    assert visible(hidden).isascii()


def test_what_is_plain_stays():
    text = "ϵ-differentially\tprivate, naïve\n日本語 עברית 👍🏽 \\u001b\u200d"
    assert visible(text) == text
