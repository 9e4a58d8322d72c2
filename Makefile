# Every target sets up .venv first; that costs a moment when nothing changed.
.DEFAULT_GOAL := help
.PHONY: help setup demo test slow check docs bench lab doctor lock chromium bubblewrap clean

BIN := .venv/bin
# One thread per process: two test workers would otherwise fight for the cores.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1

help: ## list the targets
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 18

setup: ## make .venv from requirements.lock (quick when up to date)
	@bash scripts/setup-environment.sh

demo: setup ## refine two powder patterns, verify both reports, say where they are
	@bash scripts/demo.sh

test: setup chromium bubblewrap check ## lint, types, layers, then the test suite
	@$(BIN)/python -m pytest -n 2 --dist loadgroup $(PYTEST_ARGS)

slow: setup ## the long test suites
	@$(BIN)/python -m pytest -m slow --timeout 3600 $(PYTEST_ARGS)

check: setup ## ruff, mypy --strict, import-linter
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

docs: setup ## build the documentation into docs/_build/html
	@$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

bench: setup ## run every benchmark (BENCH_ARGS=--quick for a minute each)
	@$(BIN)/python -m benchmarks $(BENCH_ARGS)

lab: setup ## open JupyterLab
	@test -x $(BIN)/jupyter-lab || { echo "JupyterLab is not installed here: run 'uv pip install --python $(BIN)/python jupyterlab' (or '$(BIN)/python -m pip install jupyterlab'), then 'make lab' again." >&2; exit 2; }
	@$(BIN)/jupyter-lab

doctor: setup ## say what works on this machine and how to mend what does not
	@$(BIN)/sciagent doctor

lock: ## resolve pyproject.toml into requirements.lock (needs uv)
	@uv pip compile --quiet --universal --generate-hashes --all-extras --python-version 3.11 --no-header --no-annotate pyproject.toml --output-file requirements.lock $(LOCK_ARGS)

chromium: ## install the browser that browser tests use (as root on Debian and Ubuntu)
	@bash scripts/install-chromium.sh

bubblewrap: ## install the sandbox for code of agents (as root on Debian and Ubuntu)
	@bash scripts/install-bubblewrap.sh

clean: ## remove .venv, caches and built documentation; artifacts stay
	rm -rf .venv .setup.lock .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis docs/_build dist
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
