# `make help` lists every command. PYTHON names the interpreter that sets up the environment (3.11 to 3.13).
PYTHON ?= $(shell deploy/find-python.sh)
# Processes that run the tests which measure no time.
WORKERS ?= 2
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Whatever the machine's environment says: tests start dozens of processes, and each would compile all of Braid.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := all
.PHONY: all help setup run test faults unit check format generate checkgenerate lint types contracts release bench eval lock clean

all: format lint types unit ## format, lint, type-check and run the unit tests

help: ## list every command
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(READY): requirements.lock pyproject.toml deploy/local/neo4j.lock
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' \
	  || (echo "Braid needs Python 3.11, 3.12 or 3.13: make PYTHON=python3.11 …"; exit 1)
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing the locked dependencies …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@$(BIN)/python -m deploy.local prepare
	@touch $@

setup: $(READY) ## set up the environment from requirements.lock

run: setup ## start the whole system with the sample corpus and ask it one question
	@$(BIN)/braid up --sample --ask

test: setup ## run all tests on real stores
	@$(BIN)/python -m tests.aot_cache
	@$(BIN)/python -m pytest tests/e2e tests/faults
	@$(BIN)/python -m pytest -n $(WORKERS) --no-loadscope-reorder tests/integration tests/store_suite tests/unit

faults: setup ## run the whole fault suite: every dependency stopped, paused, slow, refusing, cut off
	@$(BIN)/python -m pytest tests/faults --all-faults

unit: setup ## run the unit tests alone
	@$(BIN)/python -m pytest -n 2 tests/unit

check: setup lint types contracts checkgenerate ## lint, type-check, verify contracts, generated code and imports

format: setup ## format the code and the contracts
	@$(BIN)/ruff format --quiet . && $(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/buf format -w protos

lint: setup ## check format, lint and who imports whom
	@$(BIN)/ruff format --check --quiet . && $(BIN)/ruff check --quiet .
	@$(BIN)/lint-imports --no-logo

types: setup ## check the types of everything
	@$(BIN)/mypy

contracts: setup ## lint the contracts and compare them with the released ones
	@cd protos && ../$(BIN)/buf lint && ../$(BIN)/buf format --diff --exit-code .
	@cd protos && ../$(BIN)/buf breaking --against released.binpb

release: setup ## take the contracts as they are as the released ones (with a new version only)
	@cd protos && ../$(BIN)/buf build -o released.binpb

generate: setup ## generate protos/gen and docs/reference from the contracts
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python protos/generate.py

checkgenerate: generate ## fail when protos/gen or docs/reference is not what the contracts generate
	@git diff --exit-code --stat -- protos/gen docs/reference && test -z "$$(git status --porcelain -- protos/gen docs/reference)"

bench: setup ## measure speed, cost or faults: make bench NAME=startup [DATA=<folder>]
	@$(BIN)/python -m tests.benchmarks $(NAME) $(if $(DATA),--data $(DATA)) $(if $(MODE),--mode $(MODE))

eval: setup ## measure quality: make eval NAME=multihop [DATA=<folder>] [MODE=all]
	@$(BIN)/python -m tests.evals $(NAME) $(if $(DATA),--data $(DATA)) $(if $(MODE),--mode $(MODE))

lock: setup ## renew requirements.lock from pyproject.toml (needs uv)
	@uv pip compile --quiet pyproject.toml --all-extras --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-annotate --no-header -o requirements.lock

clean: ## remove the environment and all caches, not the data
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
