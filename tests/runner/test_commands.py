"""Commands: that of a result selects it alone, and that of a record asks for the same again."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpaudit
from dpaudit.plan import plans
from dpaudit.runner import Request, build_cells
from dpaudit.runner.outcome import Settings, command_of

PLANS = {path.stem: path for path in plans()}
WORDS = st.text(st.sampled_from("abz09-_./: ü'\""), min_size=1, max_size=8).filter(lambda text: text[0] not in "-")
VALUES = st.text(st.sampled_from("abz09-_. "), min_size=1, max_size=6)


@pytest.mark.slow
@pytest.mark.parametrize("stem", sorted(PLANS))
def test_a_printed_command_selects_one_result(stem):
    cells = build_cells(Request(targets=[str(PLANS[stem])], with_figures=True))
    assert cells
    for cell in [each for each in cells if not each.missing][:: max(1, len(cells) // 40)]:
        command = command_of(cell, Settings(seed=0), cell.samples)
        (found,) = build_cells(Request.from_command(command))
        assert found.instance() == cell.instance(), command
        # On data that are given, no plan expects anything.
        expected = None if cell.data else cell.expected
        assert (found.claim, found.expected, found.method) == (cell.claim, expected, cell.method), command
        assert found.error_probability == cell.error_probability, command


@pytest.mark.slow
@given(
    st.builds(
        Request,
        targets=st.lists(WORDS, max_size=2).map(tuple),
        claims=st.lists(WORDS, max_size=2),
        set=st.dictionaries(st.sampled_from(["epsilon", "queries"]), st.lists(VALUES, min_size=1, max_size=3)),
        data=st.none() | WORDS,
        samples=st.none() | st.integers(1, 10**9),
        confidence=st.none() | st.floats(0.5, 1, exclude_max=True),
        method=st.sampled_from([None, "exact", "black-box"]),
        stop_early=st.booleans(),
        features=st.sampled_from(["none", "float-bits"]),
        seed=st.integers(0, 2**40),
        quick=st.booleans(),
        figures=st.none(),
        with_figures=st.booleans(),
    )
)
def test_the_command_of_a_request_is_read_back(request_):
    found = Request.from_command(request_.command)
    assert dataclasses.asdict(found) == {**dataclasses.asdict(request_), "targets": list(request_.targets)}


def test_what_is_no_command_is_refused():
    for text in ("", "dpaudit", "dpaudit list", "dpaudit check --no-such-option", "dpaudit check 'open"):
        with pytest.raises(dpaudit.RecordError, match="is not a command of dpaudit"):
            Request.from_command(text)
