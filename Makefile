# Two commands on a fresh machine: `make demo` and `make test`. Everything goes into .venv.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: demo test fuzz mutants lint bench docs site picture clean

$(BIN)/.core: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(BIN)/.test: $(BIN)/.core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[test]"
	touch $@

$(BIN)/.lint: $(BIN)/.core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[lint,test]"
	touch $@

$(BIN)/.site: $(BIN)/.core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	touch $@

$(BIN)/.bench: $(BIN)/.core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[bench]"
	touch $@

demo: $(BIN)/.core  ## a whole reading study on bundled data, ends with a page
	$(BIN)/equipoise demo --out demo-report --overwrite

test: $(BIN)/.test  ## all tests; those of a file share what they compute, so they stay together
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

ODD ?= 1650
fuzz: $(BIN)/.test  ## a hundred thousand odd files and commands, others than in `make test`
	EQUIPOISE_HOSTILE=$(ODD) $(BIN)/python -m pytest -n auto -q -p no:cacheprovider \
	  --basetemp=$$(mktemp -d)/fuzz tests/hostile

lint: $(BIN)/.lint  ## style, types, import contracts
	$(BIN)/ruff check src tests benchmarks conftest.py
	$(BIN)/ruff format --check src tests benchmarks conftest.py
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(BIN)/.bench  ## speed against named peers, as ratios
	$(BIN)/python -m benchmarks

mutants: $(BIN)/.test  ## plant every bug of tests/mutation in a copy and see the tests go red
	$(BIN)/python -m tests.mutation --jobs 2

docs: $(BIN)/.core  ## the pages that are written by the code
	$(BIN)/python -m equipoise.cli.help > docs/cli.md

site: $(BIN)/.site  ## the documentation as a site: site/index.html, built without the network
	rm -rf docs/api/names
	$(BIN)/python -m sphinx -b html -q -W --keep-going docs site

CHROMIUM ?= chromium
picture: demo  ## the picture in the README, of the demo's page
	$(CHROMIUM) --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1180,1290 \
	  --screenshot=docs/page.png "file://$(CURDIR)/demo-report/report.html"

clean:
	rm -rf $(VENV) demo-report site docs/api/names .mypy_cache .ruff_cache .pytest_cache .hypothesis
