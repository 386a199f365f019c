import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from preflibtools.instances import OrdinalInstance

from dpaudit.errors import DataError
from dpaudit.rankings import Profile, pairwise_counts, read_preflib, read_profile

DATA = os.environ.get("DPAUDIT_DATA")
FILES = sorted(Path(DATA).glob("*.soc")) if DATA else []

GOOD = """# FILE NAME: good.soc
# TITLE: Lunch: a vote
# DATA TYPE: soc
# NUMBER ALTERNATIVES: 3
# NUMBER VOTERS: 6
# NUMBER UNIQUE ORDERS: 2
# ALTERNATIVE NAME 1: Soup
# ALTERNATIVE NAME 2: Fish: grilled
# ALTERNATIVE NAME 3: Pie
5: 2,1,3
1: 3,2,1
"""


def write(folder, text, name="file.soc"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def render(kind, m, orders, counts):
    lines = [
        f"# DATA TYPE: {kind}",
        f"# NUMBER ALTERNATIVES: {m}",
        f"# NUMBER VOTERS: {sum(counts)}",
        f"# NUMBER UNIQUE ORDERS: {len(orders)}",
    ]
    lines += [f"# ALTERNATIVE NAME {k}: Item {k}" for k in range(1, m + 1)]
    for order, count in zip(orders, counts, strict=True):
        parts = [str(c[0] + 1) if len(c) == 1 else "{" + ",".join(str(a + 1) for a in c) + "}" for c in order]
        lines.append(f"{count}: {','.join(parts)}")
    return "\n".join(lines) + "\n"


def read_or_refuse(path):
    try:
        return read_profile(path)
    except DataError as error:
        return error


def oracle(path):
    instance = OrdinalInstance(str(path))
    orders = tuple(tuple(tuple(sorted(a - 1 for a in tied)) for tied in order) for order in instance.orders)
    return orders, tuple(instance.multiplicity[order] for order in instance.orders), instance


def test_good_file(tmp_path):
    path = write(tmp_path, GOOD)
    file = read_preflib(path)
    assert file.kind == "soc"
    assert file.names == ("Soup", "Fish: grilled", "Pie")
    assert file.orders == (((1,), (0,), (2,)), ((2,), (1,), (0,)))
    assert file.counts == (5, 1)
    assert file.path == str(path)
    assert file.lines == (10, 11)
    assert read_profile(str(path)) == Profile([[1, 0, 2], [2, 1, 0]], [5, 1], file.names)


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace("\n", "\r\n"),
        "\ufeff" + GOOD,
        GOOD + "\n\r\n  \n",
        GOOD.rstrip("\n"),
        GOOD.replace("5: 2,1,3", " 5 : 2, 1 ,3 "),
        GOOD.replace("# DATA TYPE: soc\n", ""),
    ],
)
def test_harmless_variations(tmp_path, text):
    assert read_profile(write(tmp_path, text)) == read_profile(write(tmp_path, GOOD, "good.soc"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("1: 3,2,1", "1: 3,3,1", "line 11: alternative 3 appears twice in the order"),
        ("1: 3,2,1", "1: 3,1", "line 11: alternative 2 is missing"),
        ("1: 3,2,1", "1: 3,2,4", "line 11: there is no alternative '4'"),
        ("1: 3,2,1", "1: 3,2,0", "line 11: there is no alternative '0'"),
        ("1: 3,2,1", "1: 3,2,x", "line 11: there is no alternative 'x'"),
        ("1: 3,2,1", "1: 3,2 1", "line 11: there is no alternative '2 1'"),
        ("1: 3,2,1", "1: 3,,2,1", "line 11: a comma has no alternative before it"),
        ("1: 3,2,1", "1: 3,2,1,", "line 11: the order ends in a comma"),
        ("1: 3,2,1", "1: ", "line 11: the order is empty"),
        ("1: 3,2,1", "1: {3,2},1", "line 11: a soc file has no ties"),
        ("1: 3,2,1", "1: 2,1,3", "line 11: the order repeats that of line 10"),
        ("1: 3,2,1", "0: 3,2,1", "line 11: the count is '0'"),
        ("1: 3,2,1", "-1: 3,2,1", "line 11: the count is '-1'"),
        ("1: 3,2,1", "1.0: 3,2,1", "line 11: the count is '1.0'"),
        ("1: 3,2,1", "1_0: 3,2,1", "line 11: the count is '1_0'"),
        ("1: 3,2,1", "٣: 3,2,1", "line 11: the count is"),
        ("1: 3,2,1", "3,2,1", "line 11: there is no colon"),
        ("1: 3,2,1", "2: 3,2,1", "line 5: NUMBER VOTERS is 6 but the file holds 7 voters"),
        ("\n1: 3,2,1", "", "line 6: NUMBER UNIQUE ORDERS is 2 but the file holds 1 orders"),
        ("\n1: 3,2,1", "\n\n1: 3,2,1", "line 11: the line is blank"),
        ("# NUMBER V", "\n# NUMBER V", "line 5: the line is blank"),
        ("\n1: 3,2,1", "\n# TITLE2: x\n1: 3,2,1", "line 11: a header line stands below an order"),
        ("5: 2,1,3\n1: 3,2,1\n", "", "holds no order"),
        ("# NUMBER VOTERS: 6\n", "", "has no NUMBER VOTERS"),
        ("# NUMBER ALTERNATIVES: 3\n", "", "has no NUMBER ALTERNATIVES"),
        ("# NUMBER UNIQUE ORDERS: 2\n", "", "has no NUMBER UNIQUE ORDERS"),
        ("# ALTERNATIVE NAME 2: Fish: grilled\n", "", "no ALTERNATIVE NAME 2"),
        ("# NUMBER VOTERS: 6\n", "# NUMBER VOTERS: 6\n# NUMBER VOTERS: 6\n", "line 6: NUMBER VOTERS is given twice"),
        (
            "# ALTERNATIVE NAME 2:",
            "# ALTERNATIVE NAME 1:",
            "line 8: ALTERNATIVE NAME 1 is given twice, first on line 7",
        ),
        ("# ALTERNATIVE NAME 2:", "# ALTERNATIVE NAME 01:", "line 8: the name of alternative 1 is given twice"),
        ("# ALTERNATIVE NAME 2:", "# ALTERNATIVE NAME 4:", "line 8: ALTERNATIVE NAME 4: there is no alternative 4"),
        ("# ALTERNATIVE NAME 2:", "# ALTERNATIVE NAME b:", "there is no alternative b"),
        ("ALTERNATIVES: 3", "ALTERNATIVES: 4", "no ALTERNATIVE NAME 4"),
        ("ALTERNATIVES: 3", "ALTERNATIVES: 0", "line 4: NUMBER ALTERNATIVES is '0'"),
        ("ALTERNATIVES: 3", "ALTERNATIVES: three", "line 4: NUMBER ALTERNATIVES is 'three'"),
        ("ALTERNATIVES: 3", "ALTERNATIVES: " + "9" * 5000, "line 4: NUMBER ALTERNATIVES is"),
        ("VOTERS: 6", "VOTERS: ", "line 5: NUMBER VOTERS is ''"),
        ("DATA TYPE: soc", "DATA TYPE: toc", "line 3: DATA TYPE is 'toc' but the file ending is .soc"),
        ("# TITLE: Lunch: a vote", "# just a remark", "line 2: the header line has no 'KEY: value'"),
    ],
)
def test_malformed_file_is_named_with_its_line(tmp_path, old, new, message):
    assert GOOD.count(old) == 1
    with pytest.raises(DataError) as caught:
        read_preflib(write(tmp_path, GOOD.replace(old, new)))
    assert str(caught.value).startswith("file.soc")
    assert message in str(caught.value)
    assert ";" in str(caught.value)


TIES = render("toc", 4, [((0, 1), (2,), (3,))], [2])


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("{1,2,3,4", "an opening brace has no closing one"),
        ("{1,2},3,4}", "a closing brace has no opening one"),
        ("{1,{2,3},4}", "do not nest them"),
        ("{1,2}{3,4}", "no comma before '{'"),
        ("{1,2}3,4", "no comma before '3'"),
        ("1{2,3},4", "no comma before '{'"),
        ("{},1,2,3,4", "braces are empty"),
        ("{1,2,},3,4", "braces are empty or end in a comma"),
        ("{,1,2},3,4", "a comma has no alternative before it"),
        ("{1,2},{2,3},4", "alternative 2 appears twice"),
        ("{1,2},3", "alternative 4 is missing"),
    ],
)
def test_malformed_braces(tmp_path, order, message):
    text = TIES.replace("{1,2},3,4", order)
    with pytest.raises(DataError, match=r"file\.toc, line 9: ") as caught:
        read_preflib(write(tmp_path, text, "file.toc"))
    assert message in str(caught.value)


def test_equal_orders_with_members_swapped_are_duplicates(tmp_path):
    text = TIES.replace("VOTERS: 2", "VOTERS: 3").replace("ORDERS: 1", "ORDERS: 2") + "1: {2,1},3,4\n"
    with pytest.raises(DataError, match="line 10: the order repeats that of line 9"):
        read_preflib(write(tmp_path, text, "file.toc"))


def test_unusable_paths(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        read_preflib(tmp_path / "absent.soc")
    (tmp_path / "folder.soc").mkdir()
    with pytest.raises(DataError, match="directory"):
        read_preflib(tmp_path / "folder.soc")
    for name in ("votes.csv", "votes", "votes.cat"):
        with pytest.raises(DataError, match="file ending"):
            read_preflib(write(tmp_path, GOOD, name))
    for content in ("", "\n\n", "\ufeff"):
        with pytest.raises(DataError, match="the file is empty"):
            read_preflib(write(tmp_path, content))
    with pytest.raises(DataError, match="line 8: byte 0xe9 is not UTF-8"):
        read_preflib(write(tmp_path, GOOD.replace("Fish", "Fishé").encode("latin-1")))
    with pytest.raises(DataError, match="cannot be read"):
        read_preflib("bad\0name.soc")


def test_profiles_need_complete_strict_orders(tmp_path):
    tied = read_preflib(write(tmp_path, TIES, "file.toc"))
    with pytest.raises(DataError, match=r"file\.toc, line 9: alternatives 1, 2 are tied"):
        tied.profile()
    partial = read_preflib(write(tmp_path, render("soi", 3, [((2,), (0,), (1,)), ((2,), (1,))], [1, 4]), "file.soi"))
    assert partial.orders[1] == ((2,), (1,))
    with pytest.raises(DataError, match=r"file\.soi, line 9: the order ranks 2 of 3"):
        partial.profile()
    strict = read_preflib(write(tmp_path, render("toi", 2, [((1,), (0,))], [3]), "file.toi"))
    assert strict.profile() == Profile([[1, 0]], [3], ("Item 1", "Item 2"))


@st.composite
def preference_files(draw):
    kind = draw(st.sampled_from(["soc", "soi", "toc", "toi"]))
    m = draw(st.integers(1, 6))
    orders = {}
    for _ in range(draw(st.integers(1, 5))):
        items = draw(st.permutations(range(m)))
        if kind in ("soi", "toi"):
            items = items[: draw(st.integers(1, m))]
        order = []
        for item in items:
            if order and kind in ("toc", "toi") and draw(st.booleans()):
                order[-1] = tuple(sorted((*order[-1], item)))
            else:
                order.append((item,))
        orders[tuple(order)] = draw(st.integers(1, 10**6))
    return kind, m, tuple(orders), tuple(orders.values())


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(case=preference_files(), crlf=st.booleans())
def test_round_trip_and_oracle(tmp_path_factory, case, crlf):
    kind, m, orders, counts = case
    text = render(kind, m, orders, counts)
    path = write(tmp_path_factory.mktemp("preflib"), text.replace("\n", "\r\n") if crlf else text, f"file.{kind}")
    file = read_preflib(path)
    assert (file.kind, file.orders, file.counts) == (kind, orders, counts)
    assert file.names == tuple(f"Item {k}" for k in range(1, m + 1))
    assert (file.orders, file.counts) == oracle(path)[:2]


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(place=st.integers(0, len(GOOD) - 1), character=st.sampled_from("{},:#\n 0123456789xé\0"), drop=st.booleans())
def test_a_changed_character_gives_a_profile_or_a_data_error(tmp_path_factory, place, character, drop):
    text = GOOD[:place] + ("" if drop else character) + GOOD[place + 1 :]
    path = write(tmp_path_factory.mktemp("preflib"), text)
    found = read_or_refuse(path)
    if isinstance(found, DataError):
        assert str(found).startswith("file.soc")
    else:
        assert (found.agents, found.alternatives) == (6, 3)


@pytest.mark.skipif(not FILES, reason="set DPAUDIT_DATA to a folder of PrefLib .soc files")
def test_real_files_against_preflibtools():
    for path in FILES:
        file, (orders, counts, instance) = read_preflib(path), oracle(path)
        assert (file.orders, file.counts) == (orders, counts)
        assert file.names == tuple(instance.alternatives_name[k] for k in range(1, instance.num_alternatives + 1))
        profile = file.profile()
        assert (profile.agents, profile.alternatives) == (instance.num_voters, instance.num_alternatives)
        expected = np.zeros((profile.alternatives,) * 2, dtype=int)
        for order, count in zip(instance.orders, counts, strict=True):
            flat = [tied[0] - 1 for tied in order]
            for place, winner in enumerate(flat):
                expected[winner, flat[place + 1 :]] += count
        np.testing.assert_array_equal(pairwise_counts(profile), expected)
