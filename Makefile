# Four commands. Each makes .venv when it is missing, and renews it when the dependencies changed.
# `make test PYTHON=python3.12` builds it with another interpreter (3.11 or newer).

PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/installed

.PHONY: build test e2e dev check
.NOTPARALLEL:

build: $(INSTALLED)  ## Compile the sources of sources.yaml into kb/
	$(BIN)/kb build

dev: $(INSTALLED)  ## Dagster's UI and daemon over the same knowledge base
	$(BIN)/kb dev

check: $(INSTALLED)  ## Style, types and floors
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

test: check  ## All of the above, then every test
	$(BIN)/pytest -n 2

e2e: $(INSTALLED)  ## The real daemon and webserver on loopback, for some minutes of a machine that does nothing else
	KB_E2E=1 $(BIN)/pytest -m e2e

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("kb_pipeline needs Python 3.11 or newer: make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet -c constraints.txt -e '.[dev]'
	touch $@
