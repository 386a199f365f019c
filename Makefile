# Everything needs only a Python >= 3.11: `make check` and `make test` create .venv, install, and run.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
PEERS_STAMP := .venv-peers/.installed
LOWEST_STAMP := .venv-lowest/.installed
DOCS_STAMP := .venv-docs/.installed

# Commands start quicker from compiled code, and the tests start many.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: bugs docs check test test-fast test-lowest mutants examples lint format reports reports-check reproduce revisions bench clean

$(STAMP): pyproject.toml hatch_build.py constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $(STAMP)

check: $(STAMP)  ## audit the catalogue; the report goes to .audit/
	$(BIN)/dpaudit check --output .audit

test: $(STAMP)  ## all tests
	$(BIN)/python -m pytest -n auto --dist worksteal

test-fast: $(STAMP)  ## the inner loop, under a minute
	$(BIN)/python -m pytest -n auto -m "not slow"

$(LOWEST_STAMP): pyproject.toml hatch_build.py
	$(PYTHON) -m venv --clear .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check uv
	.venv-lowest/bin/uv pip install --quiet --python .venv-lowest/bin/python --resolution lowest-direct --editable '.[test]'
	touch $(LOWEST_STAMP)

test-lowest: $(LOWEST_STAMP)  ## all tests with the lowest versions that pyproject.toml allows
	.venv-lowest/bin/python -m pytest -n auto -W "ignore:'click.utils.:DeprecationWarning"

mutants: $(STAMP)  ## plant bugs one by one, and write in tests/README.md what finds each
	$(BIN)/python tests/mutants/run.py

$(PEERS_STAMP): pyproject.toml hatch_build.py
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[peers]' 'pytest>=8.0'
	touch $(PEERS_STAMP)

examples: $(PEERS_STAMP)  ## the tests of examples/, which `make test` skips without the libraries that they audit
	DPAUDIT_REQUIRE_PEERS=1 .venv-peers/bin/python -m pytest tests/examples

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy dpaudit
	$(BIN)/mypy protocols
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

reports: $(STAMP)  ## audit again what is outdated of the committed reports; HTML goes to build/reports
	$(BIN)/python reports/make.py

reports-check: $(STAMP)  ## fail where a committed report is outdated
	$(BIN)/dpaudit report --check reports

reproduce: $(STAMP)  ## measure the published figures of the papers again; the report goes to .reproduced/
	$(BIN)/dpaudit reproduce --output .reproduced

revisions: $(STAMP)  ## say which auditors changed without a new revision
	$(BIN)/python -m dpaudit.runner.revisions

bugs: $(STAMP)  ## audit releases of libraries that have known bugs, and write bugs/README.md; needs a package index
	$(BIN)/python bugs/run.py

bench: $(STAMP)
	$(BIN)/python benchmarks/protocol.py
	$(BIN)/python benchmarks/costs.py
	$(BIN)/python benchmarks/throughput.py
	$(BIN)/python benchmarks/commands.py
	$(BIN)/python benchmarks/choosing.py
	$(BIN)/python benchmarks/reporting.py
	$(BIN)/python benchmarks/datafiles.py
	$(BIN)/python benchmarks/blackbox.py --write benchmarks/blackbox.md
	$(BIN)/python benchmarks/blackbox.py --best-pair --write benchmarks/best_pair.md
	$(BIN)/python benchmarks/blackbox.py --suite second --samples 1000000 --write benchmarks/second.md
	$(BIN)/python benchmarks/blackbox.py --suite held-out --samples 1000000 --write benchmarks/held_out.md
	$(BIN)/python benchmarks/peers.py --write benchmarks/peers.md
	$(BIN)/python benchmarks/detection.py --write benchmarks/detection.md
	$(BIN)/python benchmarks/calibration --write benchmarks/calibration.md

$(DOCS_STAMP): pyproject.toml
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $(DOCS_STAMP)

docs: $(DOCS_STAMP)  ## the documentation site, in build/site
	.venv-docs/bin/python -m mkdocs build --quiet

clean:
	rm -rf .venv .venv-lowest .venv-peers .venv-docs .audit .reproduced build dist
