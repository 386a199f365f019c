"""A record in a notebook: its short name, its table, its frame and its figure."""

import builtins
import dataclasses
import math
from html.parser import HTMLParser

import pytest

import dpaudit
from dpaudit.catalog import ROOT


@pytest.fixture(scope="module")
def record():
    return dpaudit.read_record(ROOT / "reports" / "duchi2013.json")


def test_repr_is_short_and_counts_the_verdicts(record):
    assert len(repr(record)) < 120
    refuted = sum(result.verdict == "refuted" for result in record.results)
    assert f"{refuted} refuted" in repr(record)
    assert repr(record).endswith("all as expected>")
    bad = dataclasses.replace(
        record, results=(dataclasses.replace(record.results[0], ok=False),), summary={"proved": 1}
    )
    assert repr(bad) == "<dpaudit.Record: 1 result (1 proved), 1 not as expected>"


def test_a_frame_has_a_row_for_each_result(record):
    frame = record.to_frame()
    assert list(frame["verdict"]) == [str(result.verdict) for result in record.results]
    for i, result in enumerate(record.results):
        assert frame["parameter.epsilon"][i] == result.parameters["epsilon"]
        if "epsilon" in result.measured:
            upper = result.measured["epsilon"].upper
            shown = frame["measured.epsilon.upper"][i]
            assert shown == upper if upper is not None else math.isnan(shown)


def test_a_frame_of_polars_where_there_is_no_pandas(record, monkeypatch):
    polars = pytest.importorskip("polars")
    _without(monkeypatch, "pandas")
    frame = record.to_frame()
    assert isinstance(frame, polars.DataFrame)
    assert frame["verdict"].to_list() == [str(result.verdict) for result in record.results]


def test_without_libraries_an_error_says_what_to_install(record, monkeypatch):
    _without(monkeypatch, "pandas", "polars", "matplotlib")
    with pytest.raises(dpaudit.ParameterError, match="pip install pandas"):
        record.to_frame()
    with pytest.raises(dpaudit.ParameterError, match=r"dpaudit\[plot\]"):
        record.plot(record.results[0].claim)


def test_a_table_is_escaped_and_whole(record):
    odd = dataclasses.replace(record.results[0], target="<script>alert(1)</script>")
    html = dataclasses.replace(record, results=(odd, *record.results[1:]))._repr_html_()
    assert "<script>" not in html
    tags = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            tags.append(tag)

        def handle_endtag(self, tag):
            tags.remove(tag)

    Reader().feed(html)
    assert tags == []
    assert html.count("<tr>") == min(len(record.results), 50) + 1


def test_a_plot_draws_every_result_and_what_is_claimed(record):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    claim = "duchi2013.vector-mechanism"
    ax = record.plot(claim)
    results = [result for result in record.results if result.claim == claim]
    drawn = [len(container[0].get_xdata()) for container in ax.containers]
    assert sum(drawn) == len(results)
    claimed = next(line for line in ax.lines if line.get_label() == "claimed")
    assert sorted(claimed.get_ydata()) == sorted(result.claimed["epsilon"] for result in results)
    assert ax.get_ylabel() == "epsilon"
    with pytest.raises(dpaudit.ParameterError, match="draws one claim"):
        record.plot("duchi2013.no-such")


def _without(monkeypatch, *names):
    importing = builtins.__import__

    def refuse(name, *rest, **more):
        if name.partition(".")[0] in names:
            raise ImportError(name)
        return importing(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
