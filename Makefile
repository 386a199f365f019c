# Everything needs only a Python >= 3.11: `make check` and `make test` create .venv, install, and run.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: check test test-fast lint format reports bench clean

$(STAMP): pyproject.toml hatch_build.py
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $(STAMP)

check: $(STAMP)  ## audit the catalogue; the report goes to .audit/
	$(BIN)/dpaudit check --output .audit

test: $(STAMP)  ## all tests
	$(BIN)/python -m pytest -n auto

test-fast: $(STAMP)  ## the inner loop, under a minute
	$(BIN)/python -m pytest -n auto -m "not slow"

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy dpaudit
	for file in protocols/*.py protocols/controls/*.py; do $(BIN)/mypy $$file || exit 1; done
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

reports: $(STAMP)  ## regenerate the committed reports
	$(BIN)/python reports/make.py

bench: $(STAMP)
	$(BIN)/python benchmarks/protocol.py
	$(BIN)/python benchmarks/throughput.py

clean:
	rm -rf .venv .audit build dist
