# Verbs: test, demo, lint, twins, overhead, evidence, faults, site, mcpb. Each does its own set-up from a fresh clone.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
TORCH  ?= torch==2.13.0

.PHONY: test demo lint twins overhead evidence faults site mcpb clean
.DELETE_ON_ERROR:

# torch goes first and alone: resolved together with its users, an unpinned CUDA build may win
$(VENV)/.base: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check '$(TORCH)' numpy
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[torch,dev]'
	@touch $@

$(VENV)/.frameworks: $(VENV)/.base
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[frameworks]'
	@touch $@

test: $(VENV)/.frameworks lint
	$(BIN)/python -m pytest -n 2 --dist worksteal

# what takes longer: every healthy twin learns, every broken one is silently worse; more kinds of programs
twins: $(VENV)/.frameworks
	$(BIN)/python -m pytest -n 2 -m twins

overhead: $(VENV)/.base
	$(BIN)/python evidence/overhead.py

# a bundle for Claude Desktop; needs npx
mcpb:
	rm -rf build/mcpb && mkdir -p build/mcpb
	cp -R pyproject.toml README.md LICENSE SKILL.md PLAYBOOK.md refs evidence server tools build/mcpb
	find build/mcpb -name __pycache__ -prune -exec rm -rf {} +
	cp hosts/claude-desktop/manifest.json build/mcpb
	npx --yes @anthropic-ai/mcpb pack build/mcpb build/trainsleuth.mcpb

# re-runs every experiment and writes results.json, RESULTS.md, CLAIMS.md and the figures
evidence: $(VENV)/.base
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[plots]'
	cd evidence/experiments && OMP_NUM_THREADS=1 ../../$(BIN)/python -m lab
	$(BIN)/python -m trainsleuth.handbook refs evidence
	$(BIN)/trainsleuth evidence verify

# the same pages as one searchable site, in site/
site: $(VENV)/.base
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[site]'
	mkdir -p site_source && $(BIN)/mkdocs build --strict

# every fault in every healthy program under evidence/faults/programs: about 40 short runs each
faults: $(VENV)/.frameworks
	$(BIN)/python evidence/faults/table.py

lint: $(VENV)/.base
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --num-workers 2

demo: $(VENV)/.base
	$(BIN)/python demo/run.py

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache
