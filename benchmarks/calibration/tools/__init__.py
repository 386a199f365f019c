"""The tools that are calibrated, one file for each, in the order of the tables."""

from calibration.interface import Tool
from calibration.tools import canaries, ours, peers, recorder, statdp, wrong

TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        ours.FIXED,
        ours.EARLY,
        peers.SNIPER,
        peers.LDP_AUDIT,
        peers.KOLMOGOROV_SMIRNOV,
        statdp.TOOL,
        recorder.TOOL,
        canaries.ALL_THRESHOLDS,
        canaries.SPLIT,
        wrong.PLUG_IN,
        wrong.SAME_SAMPLES,
        wrong.PEEKING,
    )
}
