# Every target first makes sure that what it needs is there. `make` alone lists them.
SHELL := /bin/sh
PYTHON ?= python3
BIN := .venv/bin
INTERMEZZO := $(BIN)/intermezzo
HARNESS := tests/crash tests/node/test_every_step.py tests/e2e/test_every_step.py

.PHONY: help setup up vscode trial test crash cycles lint bench clean
help: ## this list
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

setup: ## install what is missing (idempotent)
	@PYTHON=$(PYTHON) scripts/setup

up: setup ## start Intermezzo here; Ctrl-C stops it
	@$(INTERMEZZO) up

trial: setup ## pause and resume a real experiment and print what happened; ARGS="--notebook FILE"
	@$(INTERMEZZO) trial $(ARGS)

vscode: setup ## prepare VS Code for workspaces of the kind vscode (idempotent)
	@PYTHON=$(PYTHON) scripts/setup-vscode

test: setup ## all tests; results in build/junit.xml
	@mkdir -p build
	$(BIN)/pytest -n 3 --no-loadscope-reorder --junitxml=build/junit.xml $(ARGS)

crash: setup ## kill every process at every step of every operation; figures in build/crash.json
	rm -rf build/crash
	$(BIN)/pytest -q $(HARNESS) $(ARGS)
	$(BIN)/python scripts/crash-figures

cycles: setup ## a hundred pauses and resumes of one growing session; figures in build/cycles.json
	INTERMEZZO_CYCLES=$${INTERMEZZO_CYCLES:-100} $(BIN)/pytest -q tests/e2e/test_cycles.py $(ARGS)

lint: setup ## style, types and layering
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup ## speed beside the bare engine's; results in build/bench.json
	@mkdir -p build
	$(BIN)/python -m benchmarks $(ARGS)

clean: ## remove what was built, not the data
	rm -rf build trial
