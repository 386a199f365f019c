"""Section 4.3, Table 2: time, memory and communication, counted on the protocol's own reports and tallies."""

import math

import numpy as np

import dpaudit

from .ldp_kwiksort import LDPKwikSort, LDPKwikSortRR
from .paper import PAPER

TABLE2 = PAPER.at(section="4.3", table=2)

QUERIES = (1, 2, 5, 10, 20, 50, 100, 200)
"""K at which costs are counted; 21 alternatives have 210 pairs."""

CODED = (4, 8, 16, 32, 64, 128)
"""K at which bits are counted: from where a logarithm is told from a power."""

AGENTS = (10, 30, 100, 300, 1000, 3000, 10_000)
ALTERNATIVES = (8, 16, 32, 64, 128, 256, 512, 1024)


def report_bits(pairs: int, queries: int) -> float:
    """Bits that tell the reports of one agent apart: K pairs out of all, and K answers."""
    return math.log2(math.comb(pairs, queries)) + queries


def _too_few_pairs(protocol: LDPKwikSort) -> str:
    return "" if protocol.pairs >= QUERIES[-1] else f"K is counted up to {QUERIES[-1]}, so take m of 21 or more"


@dpaudit.claim(
    "yan2020.table2-agent-time",
    LDPKwikSortRR,
    kind="rate",
    place=TABLE2,
    statement="An agent's part takes time O(K): so many answers are randomized.",
)
def agent_time(protocol: LDPKwikSortRR) -> dpaudit.RateClaim:
    def answers(queries: float) -> float:
        report = protocol.but(queries=int(queries)).report
        sent = report.sample(np.arange(protocol.alternatives), 1, np.random.default_rng(0))
        return float(sent.size - queries)

    return dpaudit.RateClaim(
        variable="queries",
        points=QUERIES,
        exponent=1.0,
        exact=answers,
        quantity="answers that one agent randomizes",
        scope=f"m = {protocol.alternatives}",
        inapplicable=_too_few_pairs(protocol),
    )


@dpaudit.claim(
    "yan2020.table2-curator-time",
    LDPKwikSortRR,
    kind="rate",
    place=TABLE2,
    statement="The curator's part takes time O(nK) besides sorting: so many questions are asked and answers tallied.",
)
def curator_time(protocol: LDPKwikSortRR) -> dpaudit.RateClaim:
    return dpaudit.RateClaim(
        variable="agents",
        points=AGENTS,
        exponent=1.0,
        exact=lambda agents: float(protocol.report.assign(int(agents), np.random.default_rng(0)).size),
        quantity="pairs that the curator asks all agents about",
        scope=f"m = {protocol.alternatives}, K = {protocol.asked}",
    )


@dpaudit.claim(
    "yan2020.table2-sorting-time",
    LDPKwikSortRR,
    kind="rate",
    place=TABLE2,
    statement="KwikSort's part takes time O(m log m), counted as expected comparisons of majorities without a cycle.",
)
def sorting_time(protocol: LDPKwikSortRR) -> dpaudit.RateClaim:
    def comparisons(alternatives: float) -> float:
        m = int(alternatives)
        return 2 * (m + 1) * math.fsum(1 / i for i in range(1, m + 1)) - 4 * m

    return dpaudit.RateClaim(
        variable="alternatives",
        points=ALTERNATIVES,
        exponent=1.0,
        shape=math.log,
        exact=comparisons,
        quantity="expected comparisons of QuickSort with a random pivot",
        scope="pivots drawn uniformly; in the worst case all m (m - 1) / 2 pairs are compared",
    )


@dpaudit.claim(
    "yan2020.table3-kwiksort-grows",
    LDPKwikSortRR,
    kind="lemma",
    place=PAPER.at(section="5.6", table=3, note="counted"),
    statement=(
        "The time of KwikSort increases with more alternatives, counted as expected comparisons of majorities without "
        "a cycle, from every m to m + 1."
    ),
)
def kwiksort_grows(protocol: LDPKwikSortRR) -> dpaudit.LemmaClaim:
    def comparisons(m: int) -> float:
        return 2 * (m + 1) * math.fsum(1 / i for i in range(1, m + 1)) - 4 * m

    return dpaudit.LemmaClaim(
        margin=lambda m: comparisons(m + 1) - comparisons(m),
        instances=[{"m": m} for m in range(2, ALTERNATIVES[-1])],
        complete=True,
        explain=lambda m: {"at m": comparisons(m), "at m + 1": comparisons(m + 1)},
        scope=f"m from 2 to {ALTERNATIVES[-1]}, pivots drawn uniformly",
    )


@dpaudit.claim(
    "yan2020.table2-agent-bits",
    LDPKwikSortRR,
    kind="rate",
    place=TABLE2,
    statement="What an agent keeps and sends takes O(log K) bits, and that of all n agents O(n log K).",
)
def agent_bits(protocol: LDPKwikSortRR) -> dpaudit.RateClaim:
    return dpaudit.RateClaim(
        variable="queries",
        points=CODED,
        exponent=0.0,
        shape=lambda queries: 1 + math.log2(queries),
        exact=float,
        quantity="bits of the K answers alone, of which every combination occurs",
        scope="per agent, whatever n and m",
    )


@dpaudit.claim(
    "yan2020.table2-agent-bits-mended",
    LDPKwikSortRR,
    kind="lemma",
    place=PAPER.at(section="4.3", table=2, note="with the pairs and the answers"),
    statement="An agent's report takes at most K (1 + log2 C(m,2)) bits, for every K up to C(m,2), and at least K.",
    ours=True,
)
def agent_bits_mended(protocol: LDPKwikSortRR) -> dpaudit.LemmaClaim:
    pairs = protocol.pairs

    def sides(queries: int) -> dict[str, float]:
        least, most = float(queries), queries * (1 + math.log2(pairs))
        return {"at least": least, "actual": report_bits(pairs, queries), "at most": most}

    def margin(queries: int) -> float:
        bits = sides(queries)
        return min(bits["actual"] - bits["at least"], bits["at most"] - bits["actual"])

    return dpaudit.LemmaClaim(
        margin=margin,
        instances=[{"queries": queries} for queries in range(1, pairs + 1)],
        complete=True,
        explain=sides,
        tolerance=1e-9,
        scope=f"m = {protocol.alternatives}, every K from 1 to {pairs}: binary logarithm of the number of reports",
    )


@dpaudit.claim(
    "yan2020.table2-curator-bits",
    LDPKwikSortRR,
    kind="rate",
    place=TABLE2,
    statement=(
        "For every K >= 2 and m, the curator needs no more than O(n log K) bits of memory as n grows: one tally for "
        "each pair is enough (a scheme chosen here; the paper keeps sums for every agent)."
    ),
)
def curator_bits(protocol: LDPKwikSortRR) -> dpaudit.RateClaim:
    return dpaudit.RateClaim(
        variable="agents",
        points=AGENTS,
        exponent=1.0,
        exact=lambda agents: protocol.pairs * math.log2(2 * agents + 1),
        quantity="bits of C(m, 2) tallies from -n to n",
        scope=f"m = {protocol.alternatives}",
        inapplicable="" if protocol.asked > 1 else "log K is 0 at K = 1",
    )
