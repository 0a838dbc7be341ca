# Everything there is to do with a checkout. `make help` lists it.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UI_FILES := $(shell find ui -name node_modules -prune -o -name dist -prune -o -type f -print 2>/dev/null)
TESTS ?= tests
# Set to run `make up` elsewhere: make up PORT=9000 DATA=/srv/leasehold
PORT ?=
DATA ?=

.DEFAULT_GOAL := help
.PHONY: help up setup test check ci format lint types ui-check services generated requirements bench wheel clean

help: ## list what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 16

up: $(VENV)/.package ## install, build and run everything on embedded PostgreSQL (PORT=…, DATA=…)
	@exec $(BIN)/leasehold up $(if $(PORT),--port $(PORT)) $(if $(DATA),--data $(DATA))

setup: $(VENV)/.package $(VENV)/.dev ## install all that is needed to work on it

test: setup services ## install what is missing and run every test (TESTS=path for some)
	$(BIN)/python -m pytest -n 2 --dist loadfile $(TESTS)

check: setup lint types ui-check test ## format, lint, types and tests: what a change must pass

ci: check ## what continuous integration runs

format: $(VENV)/.dev ## put the code into its form
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: $(VENV)/.dev ## check form and lint
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.package $(VENV)/.dev ## check types
	$(BIN)/mypy

ui-check: $(VENV)/.package $(VENV)/.dev ## check the UI's form, and that its types are those of the API
	$(BIN)/python scripts/npm.py run lint
	$(BIN)/python scripts/npm.py run types:check

services: ## install the Debian packages the tests need, or say which
	@sh scripts/services.sh

generated: setup ## write openapi.json, the UI's types and the printed pages of docs/ again
	$(BIN)/python scripts/generate.py
	$(BIN)/python scripts/npm.py run types

requirements: $(VENV)/.dev ## pin the newest versions that fit, with hashes
	$(BIN)/uv pip compile -q --upgrade --generate-hashes --universal --python-version 3.11 --no-emit-index-url --no-header \
		pyproject.toml --extra server -o requirements/server.txt
	$(BIN)/uv pip compile -q --upgrade --generate-hashes --universal --python-version 3.11 --no-emit-index-url --no-header \
		pyproject.toml --extra server --group dev -c requirements/server.txt -o requirements/dev.txt

bench: setup ## measure; prints ratios
	$(BIN)/python -m bench.rewrite
	$(BIN)/python -m bench.leases
	$(BIN)/python -m bench.seeds

wheel: setup ## build the wheel, UI and migrations inside
	$(BIN)/python -m build --wheel

clean: ## remove what was installed and built (the data folder stays)
	rm -rf $(VENV) ui/node_modules ui/dist dist .mypy_cache .pytest_cache .ruff_cache .hypothesis

# Debian's python3 has no ensurepip without python3-venv; its pip can still fill an environment from outside.
$(BIN)/python:
	@echo "Making the virtual environment …"
	@$(PYTHON) -m venv $(VENV) 2>/dev/null \
		|| { rm -rf $(VENV) && $(PYTHON) -m venv --without-pip $(VENV) \
		     && $(PYTHON) -m pip --python $(BIN)/python install --quiet pip; }

$(VENV)/.server: requirements/server.txt | $(BIN)/python
	@echo "Installing the server's packages (half a minute) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/server.txt
	@touch $@

$(VENV)/.package: $(VENV)/.server pyproject.toml hatch_build.py $(UI_FILES)
	@echo "Installing leasehold and building its UI …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.server
	@echo "Installing the tools for development …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@
