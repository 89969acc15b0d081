# Every target first makes sure that what it needs is there. `make` alone lists them.
SHELL := /bin/sh
PYTHON ?= python3
BIN := .venv/bin
INTERMEZZO := $(BIN)/intermezzo

.PHONY: help setup up vscode trial test lint bench clean
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
	$(BIN)/pytest -n 2 --no-loadscope-reorder --junitxml=build/junit.xml $(ARGS)

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
