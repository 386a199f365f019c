"""What choosing costs, compared with auditing: CPU seconds of the whole catalogue, in one run.

Run with ``python benchmarks/choosing.py``; it takes a few minutes.
"""

import time

from dpaudit.registry import catalogue_claims, catalogue_papers
from dpaudit.runner import Request, build_cells
from dpaudit.runner.keys import Keys
from dpaudit.runner.outcome import Settings, run_cell


def main() -> None:
    rows = []

    def timed(name, work):
        start = time.process_time()
        found = work()
        rows.append((name, time.process_time() - start))
        return found

    timed("import all papers", catalogue_claims)
    papers = [key for key, entry in catalogue_papers().items() if entry.plan]
    cells = timed("choose all cells", lambda: build_cells(Request(targets=papers)))
    keys = Keys(0)
    timed("keys of all cells", lambda: [keys.candidates(cell) for cell in cells])
    timed(f"audit {len(cells)} cells", lambda: [run_cell(cell, Settings(seed=0)) for cell in cells])
    total = rows[-1][1]
    print("| what | CPU seconds | share of auditing |\n|---|---|---|")
    for name, seconds in rows:
        print(f"| {name} | {seconds:.2f} | {seconds / total:.2%} |")


if __name__ == "__main__":
    main()
