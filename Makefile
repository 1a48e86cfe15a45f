# Every target makes its own virtual environment first; PYTHON chooses the interpreter (3.11 or later).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Two more than there are processors: many tests wait for a server, a browser or npm.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 2)')

.PHONY: demo test bench soak lint generate mutants editor window playground site clean

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,server]'
	touch $(STAMP)

demo: $(STAMP) ## real mistakes found and repaired, four days of a dead-letter queue in a test, a day with an outage
	@$(BIN)/python -m fixtures.demo

test: $(STAMP) ## run all tests
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal

lint: $(STAMP) ## ruff, mypy, and whether everything generated is fresh
	$(BIN)/ruff check .
	$(BIN)/ruff format --check cfq_lint emulator
	$(BIN)/mypy
	$(BIN)/python -m cfq_lint.cli.generate --check
	$(BIN)/python -m emulator.cli.generate --check

generate: $(STAMP) ## write schemas, rule pages, README's table and the hook manifest anew
	$(BIN)/python -m cfq_lint.cli.generate
	$(BIN)/python -m emulator.cli.generate
	$(BIN)/python -m tests.architecture.floors

bench: $(STAMP) ## measure beside the peers; they are installed into .bench
	$(BIN)/python tests/bench/lint_bench.py
	$(BIN)/python tests/bench/emulator_bench.py
	$(BIN)/python tests/bench/worker_bench.py
	$(BIN)/python tests/bench/server_bench.py
	$(BIN)/python tests/bench/simulate_bench.py
	$(BIN)/python tests/bench/explore_bench.py
	$(BIN)/python -m tests.bench.editor_bench

soak: $(STAMP) ## three nodes on one PostgreSQL: leaders killed and frozen, the database restarted, for some minutes
	$(BIN)/python -m tests.bench.nodes_soak

mutants: $(STAMP) ## put faults into the emulator's core and see that the tests find each
	$(BIN)/python -m tests.mutants

editor: ## package the extension for VS Code, .editor/vscode/cfq-lint-*.vsix; needs npm
	mkdir -p .editor
	cp -r cfq_lint/editor/clients/vscode .editor/
	cp LICENSE .editor/vscode/
	cd .editor/vscode && npm install --silent --no-audit --no-fund && npm run --silent package

window: $(STAMP) editor ## the extension in a real window of VS Code, with screenshots; the first time builds it, in five minutes
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[browser]'
	$(BIN)/python -m tests.lint.editor.window

playground: $(STAMP) ## the linter and the emulator in a page, site/playground; needs npm
	$(BIN)/python docs/playground/build.py

site: $(STAMP) ## the documentation's site with the playground, in site/
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	$(BIN)/python docs/site.py
	$(BIN)/python docs/playground/build.py

clean:
	rm -rf $(VENV) .bench .editor site .pytest_cache .mypy_cache .ruff_cache .hypothesis
