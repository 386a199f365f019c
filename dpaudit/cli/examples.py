"""Examples that `--help` shows, by command; a test parses each."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, ...]] = {
    "list": ("dpaudit list", "dpaudit list --paper yan2020 --claims", "dpaudit list laplace"),
    "show": ("dpaudit show yan2020", "dpaudit show yan2020.theorem1", "dpaudit show dp-kwiksort --format json"),
    "check": (
        "dpaudit check yan2020.dp-kwiksort --set epsilon=1 --set alternatives=3 --set agents=2",
        "dpaudit check my_protocol.py --samples 100000 --output report",
        "dpaudit check --command './sampler {epsilon}' --claim-epsilon 1 --inputs '[0, 1]'",
    ),
    "verify": ("dpaudit verify report/witnesses/WITNESS.json", "dpaudit verify WITNESS.json --target my_protocol.py"),
    "sweep": ("dpaudit sweep opendp --samples 20000 --output sweep",),
    "bound": (
        "dpaudit bound a.csv b.csv --delta 1e-6",
        "dpaudit bound a.npy b.npy --claim-epsilon 1 --output report",
        "dpaudit bound --one-run scores.csv --delta 1e-5",
    ),
    "reproduce": ("dpaudit reproduce --quick", "dpaudit reproduce yan2020.figure3 --output reproduced"),
    "report": ("dpaudit report report --output rendered", "dpaudit report record.json --format markdown"),
    "merge": ("dpaudit merge shard1 shard2 --output whole",),
    "compare": ("dpaudit compare old/record.json new/record.json --format markdown",),
    "init": ("dpaudit init noisy-count",),
    "schema": ("dpaudit schema plan > plan.schema.json",),
}


def epilog_of(command: str) -> str:
    """Return the examples of a command as the end of its help, each on a line of its own."""
    return "\n\n".join(("Examples:", *EXAMPLES[command])) if command in EXAMPLES else ""
