# Everything a person or CI does with Onthedot. Needs Python 3.11 to 3.14, git and make; the rest is installed into
# .venv and .local, nothing outside this folder.

.DEFAULT_GOAL := help

# The first Python on this machine that is new enough; or name one: make up PYTHON=/path/to/python3.13
fits := import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))
ifndef PYTHON
PYTHON := $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c '$(fits)' 2>/dev/null && echo $$python && break; done)
endif
# What a build for AWS is made with: this machine's Python, since the layer's packages are chosen by it.
RUNTIME ?= python$(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
# What random lives are drawn from: make prove SEED=...
ifndef SEED
SEED := $(shell $(PYTHON) -c 'import random; print(random.randrange(10**6))')
endif
PARAMETERS ?=
ARGS ?=

# exec: what make is told to end must be the command itself, not a shell around it.
local := exec env PYTHONPATH=shared .venv/bin/python -m local
sam := PATH="$(CURDIR)/.local/uv/bin:$$PATH" SAM_CLI_TELEMETRY=0 .local/sam/bin/python -m samcli
overrides = --parameter-overrides Runtime=$(RUNTIME) $(PARAMETERS)

outages := $(wildcard tests/functional/test_every_slot_of_an_outage* tests/functional/test_an_outage_of_one_part* \
	tests/functional/test_what_is_caught_up*)

.PHONY: help
help: ## List these targets
	@sed -n 's/^\([a-z-]*\):.*## /  \1@/p' Makefile | while IFS=@ read -r name text; do printf '  make %-14s %s\n' $$name "$$text"; done

.PHONY: setup
setup: ## Install what the other targets need (they do it by themselves)
	@"$(PYTHON)" -c '$(fits)' 2>/dev/null || { echo "Onthedot needs Python 3.11 to 3.14. Install one, or name it:" \
		"make $(or $(MAKECMDGOALS),run) PYTHON=/path/to/python3.12" >&2; exit 1; }
	@$(PYTHON) -m local.setup

.PHONY: run
run: setup ## Run everything locally and watch three jobs; Ctrl-C ends it, ARGS=--once after the first job
	@$(local) run $(ARGS)

.PHONY: up
up: setup ## The same in the background; prints ONTHEDOT_URL=...; AUTH=true enforces IAM policies
	@$(local) up $(if $(AUTH),--auth $(AUTH))

.PHONY: down
down: ## Stop what `make up` started
	@if test -x .venv/bin/python; then $(local) down; else echo "Nothing is running"; fi

.PHONY: test
# Four processes: two have deployed stacks, and mostly wait for them.
test: lint ## Every check; ARGS go to pytest
	@.venv/bin/python -m pytest -n 4 $(ARGS)

.PHONY: lint
lint: setup ## Style and types
	@.venv/bin/python -m ruff check .
	@.venv/bin/python -m ruff format --check .
	@.venv/bin/python -m mypy shared functions local tests benchmarks

.PHONY: prove
prove: setup ## What is promised, attacked: every crash point, random lives, outages, hostile input; 20 to 60 minutes
	@echo "SEED=$(SEED) draws the same lives again"
	@PROVE=all SEED=$(SEED) .venv/bin/python -m pytest -n 2 tests/prover tests/crashes tests/hostile $(outages) \
		tests/property/test_no_mutant_is_slow_or_a_surprise.py $(ARGS)

.PHONY: prove-slots
prove-slots: setup ## What is promised of slots, in every zone through all years; a quarter of an hour
	@PROVE=all .venv/bin/python -m pytest tests/property $(ARGS)

.PHONY: prove-planning
prove-planning: setup ## What is promised after an outage of three minutes, and of many schedules at one minute
	@PROVE=all .venv/bin/python -m pytest tests/e2e/test_an_outage_ends_as_its_owner_wants.py \
		tests/functional/test_live_schedules_wait_for_no_backlog.py $(ARGS)

.PHONY: prove-overload
prove-overload: setup ## What is promised of overload, with 2,000 jobs; about 20 minutes
	@PROVE=all .venv/bin/python -m pytest -s tests/functional/test_overload_kills_no_job.py $(ARGS)

.PHONY: prove-races
prove-races: setup ## What is promised of processes that race and die: 5,000 jobs, 100 schedules; 6 to 20 minutes
	@PROVE=all .venv/bin/python -m pytest tests/races $(ARGS)

.PHONY: bench
bench: setup ## Measure, beside other designs; ARGS name some kinds: hand-over planning worker create ... (docs/benchmarks.md)
	@.venv/bin/python -m benchmarks $(ARGS)

.PHONY: capacity
capacity: setup ## Simulate what AWS's limits let through with what was measured last, and renew docs/scale.md
	@PYTHONPATH=shared .venv/bin/python -m benchmarks.capacity

.PHONY: build
build: setup ## Build the functions and their layer for AWS
	@$(sam) build $(overrides)

.PHONY: deploy
deploy: build ## Deploy to the AWS account you are signed in to; ARGS replace --guided, PARAMETERS="Shards=8 ..."
	@$(sam) deploy $(or $(ARGS),--guided) $(overrides)

.PHONY: lock
lock: setup ## Renew uv.lock, and the layer's requirements from it
	@.local/uv/bin/uv lock
	@.local/uv/bin/uv export --quiet --frozen --only-group layer --no-hashes --no-annotate --no-header --output-file shared/requirements.txt
