# Two commands do everything on a fresh machine with Python 3.11+, git, make and g++: `make run` and `make test`.
PYTHON ?= python3
PRESET ?=
PORT ?= 5000
FLOW_PORT ?= 4200
export PATH := $(CURDIR)/.venv/bin:$(PATH)
PIP := .venv/bin/python -m pip --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help setup setup-dev data run test test-all check format ui serve lock-diff lock clean bench-accuracy bench-fanout bench-floors bench-flow bench-startup bench-train

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: .venv/runs ## the environment, from the lock
setup-dev: .venv/develops ## the same with the tools for tests and checks

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/runs: requirements.lock pyproject.toml | .venv/bin/python
	$(PIP) install --quiet --require-hashes -r requirements.lock
	$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	touch $@

.venv/develops: .venv/runs requirements-dev.lock
	$(PIP) install --quiet --require-hashes -r requirements-dev.lock
	touch $@

data: setup ## fetch the data set that params.yaml names, and version it with DVC
	$(if $(PRESET),sluice preset $(PRESET))
	sluice fetch

run: data ## everything that changed, to a gated and registered model (PRESET=mnist takes another preset)
	dvc repro
	sluice summary

test: setup-dev ## all tests but the long ones
	pytest -m "not long"

test-all: setup-dev ## all tests
	pytest

check: setup-dev ## format, lint, types, import contracts, spelling, the rules of the repository
	ruff format --check .
	ruff check .
	mypy
	lint-imports
	codespell
	pytest -q --no-cov tests/repo

format: setup-dev ## bring the code into form
	ruff format .
	ruff check --fix .

ui: setup ## MLflow on 127.0.0.1 (PORT=5000)
	mlflow ui --host 127.0.0.1 --port $(PORT) --backend-store-uri "$${MLFLOW_TRACKING_URI:-sqlite:///$(CURDIR)/mlflow.db}"

serve: setup ## Prefect's server, UI and a worker on 127.0.0.1, with the deployments of prefect.yaml (FLOW_PORT=4200)
	exec python -m flows.serve $(FLOW_PORT)

lock-diff: setup ## did the workspaces A=PATH and B=PATH end the same?
	python -m flows.lock_diff $(A) $(B)

bench-accuracy: data ## accuracy of five seeds on the gate split -> reports/bench/accuracy.json
	python bench/accuracy.py

bench-train: data ## the training loop against synthetic data and torchvision -> reports/bench/train.json
	dvc repro prepare
	python bench/train.py

bench-floors: data ## a linear model against the floors of gate.floors -> reports/bench/floors.json
	dvc repro prepare
	python bench/floors.py

bench-fanout: setup ## a hundred runs of eight stages at once: no lock fails -> reports/bench/fanout.json
	python bench/fanout.py

bench-flow: data ## what a step of the flow costs, beside dvc repro with nothing to do -> reports/bench/flow.json
	dvc repro
	python bench/flow.py

bench-startup: setup ## sluice --help against an empty program -> reports/bench/startup.json
	python bench/startup.py

lock: ## resolve requirements.lock and requirements-dev.lock anew (needs uv)
	uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-annotate --no-header -q -o requirements.lock
	uv pip compile --group dev -c requirements.lock --universal --python-version 3.11 --generate-hashes --no-annotate --no-header -q -o requirements-dev.lock

clean: ## remove the environment and what tools left; data, models and the store stay
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .coverage src/*.egg-info
