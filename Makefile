# Each target sets up what it needs, once: Python 3.11 or newer and make are enough.
# The environment is made anew when pyproject.toml changes; each stamp waits for the one before it,
# so that `make -j` never has two installers in one environment.

BIN := .venv/bin
BASE := .venv/base.stamp
DEV := .venv/dev.stamp
BENCH := .venv/bench.stamp

PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest -q
# pip reads dependency groups itself since 25.1; the pip that comes with a bare Python is older
GROUP := import sys, tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"][sys.argv[1]], sep="\n")

PYTHON = python3.13 python3.12 python3.11 python3.14 python3  # the first that is new enough makes the environment
ARGS =  # more for the command behind a target: make test ARGS="tests/rules -k fuse"
DATA =  # files of others for the quality run: make bench-quality DATA="longmemeval_s.json locomo10.json"
ONLY =  # some promises of the soak: make soak ONLY=R1, or ONLY="R4 R5"

# The tests start hundreds of processes; where no bytecode may be kept, each would compile the sources anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: lexicon help demo test test-lowest picture check soak-short soak bench bench-quality structure clean
.DELETE_ON_ERROR:

help:  ## this list
	@awk -F ' *## ' '/^[a-z-]+:.*## / { sub(/:.*/, "", $$1); printf "make %-13s %s\n", $$1, $$2 }' Makefile

demo: $(BASE)  ## record a conversation, ask about it, leave ./demo-home to try (made anew each time)
	@rm -rf demo-home
	@$(BIN)/yiku demo --home demo-home $(ARGS)

test: $(DEV)  ## the fast tests, under two minutes; those of documents and benchmarks are in `check`
	@set --; trap 'exit 130' INT TERM; \
	if [ -w /dev/shm ] && [ "$$(df -Pk /dev/shm | awk 'END { print ($$4 > 1048576) }')" = 1 ]; then \
	    fast=$$(mktemp -d /dev/shm/yiku-test.XXXXXX); trap 'rm -rf "$$fast"' EXIT; export TMPDIR="$$fast"; set -- --basetemp="$$fast/tmp"; \
	fi; \
	$(PYTEST) -n auto --dist worksteal "$$@" $(if $(ARGS),$(ARGS),--ignore=tests/docs --ignore=tests/bench)

test-lowest: $(DEV)  ## the same with the lowest versions of the dependencies (Python 3.11 has wheels of all); `make clean` afterwards
	@$(PIP) $$($(BIN)/python scripts/lowest_versions.py)
	@$(MAKE) --no-print-directory test

check: $(DEV)  ## format, lint, types, import contracts, spelling, tests of documents and benchmarks; under one minute
	@$(BIN)/ruff format --quiet --diff .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary
	@walls=$$($(BIN)/lint-imports --no-logo 2>&1) || { echo "$$walls"; exit 1; }
	@$(BIN)/codespell
	@$(PYTEST) tests/docs tests/bench

soak-short: $(DEV)  ## each promise under kills, races, faults, and all cases of all tables: some 25 minutes; ends with a table
	$(if $(ONLY),,@YIKU_WHOLE=1 $(PYTEST) -n auto --dist worksteal --ignore=tests/docs --ignore=tests/bench)
	@YIKU_SOAK=short YIKU_SOAK_ONLY='$(ONLY)' $(PYTEST) tests/soak -s --timeout=900 $(ARGS)

soak: $(DEV)  ## the same with the counts of a release; ONLY=R1 takes one promise
	@YIKU_SOAK=long YIKU_SOAK_ONLY='$(ONLY)' $(PYTEST) tests/soak -s --timeout=0 $(ARGS)

bench: $(BENCH)  ## speed, beside plain FTS5 and sqlite-vec; ARGS=--full for a million rows
	@$(BIN)/python bench/speed.py $(ARGS)

bench-quality: $(BENCH)  ## how well it finds, on files that you have: DATA="…" (docs/quality.md)
	@$(BIN)/python bench/quality.py $(DATA) $(ARGS)

structure: $(BASE)  ## lengths, call paths, cycles, import time; ARGS=--check to fail over the limits, ARGS=recall to follow one
	@$(BIN)/python bench/structure.py $(ARGS)

picture: $(BASE)  ## draw docs/terminal.svg, the terminal in the README, from a run
	@$(BIN)/python scripts/terminal_picture.py

lexicon: $(BASE)  ## compile the words of the languages (rules/lexicon/*/*.toml) to the module that is imported
	@$(BIN)/python scripts/compile_lexicon.py

clean:  ## remove what these commands made
	@rm -rf .venv demo-home build dist .spec-report.jsonl .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find src tests bench -name __pycache__ -prune -exec rm -rf {} +

$(BASE): pyproject.toml
	@for python in $(PYTHON); do \
	    $$python -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; python=; \
	done; \
	if [ -z "$$python" ]; then \
	    echo "Yiku needs Python 3.11 or newer, with its venv module; python3 here is: $$(python3 --version 2>&1)" >&2; exit 1; \
	fi; \
	echo "Setting up .venv with $$($$python --version), once" >&2; \
	$$python -m venv --clear .venv
	@$(PIP) --editable .
	@touch $@

$(DEV): $(BASE)
	@$(BIN)/python -c '$(GROUP)' dev > .venv/dev.txt
	@$(PIP) --requirement .venv/dev.txt
	@touch $@

$(BENCH): $(DEV)
	@$(BIN)/python -c '$(GROUP)' bench > .venv/bench.txt
	@$(PIP) --requirement .venv/bench.txt
	@touch $@
