# The commands of a person who works with a checkout of augury. `make help` lists them.

PYTHON ?= python3
VENV   ?= .venv
RANKS  ?= 2
CONFIG ?= share/workloads/cosmoflow-mini.toml

export VENV RANKS CONFIG

.PHONY: help env demo test lint bench clean
.DEFAULT_GOAL := help

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

env:  ## install augury and what it needs into .venv
	@$(PYTHON) share/environment/install.py --venv $(VENV)

demo: env  ## compute a small dataset, train on it with two ranks, score the run
	@share/environment/demo.sh

test:  ## every test that this machine allows; names what it skipped
	@$(PYTHON) share/environment/install.py --venv $(VENV) --with test
	@tests/run.sh

clean:  ## remove what was built; datasets, runs and the environment stay
	rm -rf build

bench:  ## augury's loader against torch's DataLoader, side by side
	@$(PYTHON) share/environment/install.py --venv $(VENV)
	@$(VENV)/bin/python tests/bench/loader/bench.py

lint:  ## style, types and layers only
	@$(PYTHON) share/environment/install.py --venv $(VENV) --with test
	@tests/run.sh lint
