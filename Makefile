# make help lists the targets. Caches (virtual environment, Kubernetes, llama.cpp) lie outside the checkout, so that
# a fresh clone reuses them: LLMSERVICE_CACHE names the folder.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.ONESHELL:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --no-print-directory

export LLMSERVICE_CACHE ?= $(HOME)/.cache/llmservice
export PYTHONPATH := $(CURDIR)/operator:$(CURDIR):$(CURDIR)/images/ctranslate2
export PYTHONDONTWRITEBYTECODE := 1

PYTHON ?= python3
LOCK := requirements/dev.lock
VENV := $(LLMSERVICE_CACHE)/venv-$(shell sha256sum $(LOCK) | cut -c1-12)
BIN := $(VENV)/bin
RUN := $(BIN)/python
TESTS ?=
WORKERS ?= 2
ALIAS ?= latest

# $(call part,NAME,COMMAND): runs it and says how long it took.
define part
printf '\n── %s\n' "$(1)"; started=$$SECONDS; $(2); printf '   %s: %s s\n' "$(1)" "$$((SECONDS - started))"
endef

# $(call among,FOLDERS): what TESTS= narrows: paths take the place of the folders, options (-k drip) are added to them.
among = $(if $(filter tests/%,$(TESTS)),,$(1)) $(TESTS)

# $(down): takes down the sandboxes of `make cluster`, one for each worker, unless KEEP=1.
down = [ -n "$(KEEP)" ] || for name in "" $(addprefix -,$(shell seq 2 $(WORKERS))); do $(RUN) -m sandbox down --name "$${LLMSERVICE_SANDBOX:-test}$$name"; done

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | column -t -s $$'\t'

# The lock lists every package, so none is looked for beside it. The folder is named by what it says: its age does not
# matter, which every fresh clone makes look new. uv needs a third of pip's CPU; where it does not reach what pip is
# configured to reach (an index, a proxy, certificates), pip does it.
define install-packages
awk '/^[^ #]/ { wanted = /^uv==/ } wanted' $(LOCK) > $(VENV)/uv.lock
$(BIN)/pip install --quiet --no-deps --require-hashes --requirement $(VENV)/uv.lock
index=$$($(BIN)/pip config get global.index-url 2>/dev/null || echo https://pypi.org/simple)
UV_DEFAULT_INDEX="$${PIP_INDEX_URL:-$$index}" $(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode --no-deps --require-hashes --requirement $(LOCK) || $(BIN)/pip install --quiet --no-deps --require-hashes --requirement $(LOCK)
endef

$(VENV)/ready: | $(LOCK)
	@printf '\n── virtual environment\n'; started=$$SECONDS; $(PYTHON) -m venv --clear $(VENV)
	$(install-packages)
	touch $@; printf '   virtual environment: %s s\n' "$$((SECONDS - started))"

.PHONY: setup
setup: $(VENV)/ready ## Install all that demo and tests need: packages, virtual environment, Kubernetes, llama.cpp, Helm
	@$(call part,sandbox parts,$(RUN) -m sandbox build --install-packages --for-tests)

.PHONY: demo-parts
demo-parts: $(VENV)/ready # what a sandbox needs, without what only tests do
	@$(call part,sandbox parts,$(RUN) -m sandbox build --install-packages)

.PHONY: demo
demo: demo-parts ## From nothing to an answer: cluster, operator, an LLMService, one chat completion
	@$(RUN) -m demo up

.PHONY: demo-down
demo-down: ## Take the demo down again
	@$(RUN) -m demo down

.PHONY: test
test: setup image-tools ## Every check and every test, on the real sandbox too; what failed is named, and can be run again alone
	@$(RUN) -m tools.parts check operator-image then unit then cluster chart-tests quick

.PHONY: check
check: $(VENV)/ready ## Style, types, layers
	@$(call part,ruff,$(BIN)/ruff check . && $(BIN)/ruff format --check .)
	$(call part,mypy,$(BIN)/mypy --cache-dir $(LLMSERVICE_CACHE)/mypy)
	$(call part,layers,$(BIN)/lint-imports)

.PHONY: style layers types generated
style: $(VENV)/ready # what .pre-commit-config.yaml runs, one by one
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
layers: $(VENV)/ready
	@$(BIN)/lint-imports
types: $(VENV)/ready
	@$(BIN)/mypy
generated: $(VENV)/ready
	@$(MAKE) crds docs gallery >/dev/null
	git diff --exit-code --stat -- crds docs/reference manifests/models

.PHONY: unit
unit: $(VENV)/ready ## The fast tests, without a cluster
	@$(call part,fast tests,$(RUN) -m pytest -q -n 2 --ignore=tests/bench --ignore=tests/boards --ignore=tests/cluster --ignore=tests/charts --ignore=tests/engines --ignore=tests/gateway --ignore=tests/load --ignore=tests/nodes --ignore=tests/routes --ignore=tests/site/browser --ignore=tests/ui --ignore=tests/vllm --ignore=tests/zero -m "not cluster" $(TESTS))

.PHONY: chart-tests
chart-tests: setup ## The tests of chart, overlays and boards: real Helm, kubectl and Prometheus, no cluster
	@$(call part,chart tests,$(RUN) -m pytest -q -n 2 --dist loadfile $(call among,tests/charts tests/boards))

.PHONY: test-ui
test-ui: $(VENV)/ready ## The page of `llmservice ui` in a real browser, Debian's chromium
	@command -v chromium >/dev/null || { apt-get update -qq && apt-get install -qq --yes --no-install-recommends chromium; }
	$(call part,tests of the page,$(RUN) -m pytest -q $(call among,tests/ui))

.PHONY: image-tools
image-tools: # what builds the operator's image from the Dockerfile without Docker
	@{ command -v buildah && command -v debootstrap; } >/dev/null || { apt-get update -qq && apt-get install -qq --yes --no-install-recommends buildah debootstrap; }

.PHONY: operator-image
operator-image: setup image-tools # which the cluster tests would else build, and wait for
	@$(call part,operator image,$(RUN) -m tests.cluster.operator_image)

.PHONY: cluster
cluster: setup image-tools ## The tests on a real API server and kubelet (WORKERS=3: in so many sandboxes; KEEP=1 leaves them running)
	@trap '$(down)' EXIT
	$(call part,cluster tests,$(RUN) -m pytest -v --durations=20 -n $(if $(LLMSERVICE_TEST_CONTEXT),0,$(WORKERS)) --dist loadfile --no-loadscope-reorder -m "cluster and not install and not slow" $(call among,tests/cluster tests/contracts))

.PHONY: quick
quick: setup ## The parts of test-faults, test-hostile and test-streams that are in `make test`
	@export LLMSERVICE_SANDBOX="$${LLMSERVICE_SANDBOX:-test}-quick"
	trap '$(RUN) -m sandbox down --name "$$LLMSERVICE_SANDBOX"' EXIT
	$(call part,fault tests,$(RUN) -m pytest -v -m quick tests/faults)
	$(call part,hostile tests,$(RUN) -m pytest -v -m quick tests/hostile)
	$(call part,tests of streams,$(RUN) -m pytest -v -m quick tests/streams)

.PHONY: test-install
test-install: setup image-tools ## The operator's image with the rights of one namespace, on a cluster of its own
	@$(call part,install tests,$(RUN) -m pytest -v -m install $(call among,tests/cluster))

.PHONY: test-slow
test-slow: setup image-tools ## The cluster tests that wait for long by their nature
	@trap '[ -n "$(KEEP)" ] || $(RUN) -m sandbox down --name "$${LLMSERVICE_SANDBOX:-test}"' EXIT
	$(call part,slow cluster tests,$(RUN) -m pytest -v -m slow $(call among,tests/cluster))

.PHONY: test-faults
test-faults: setup ## Everything that can go wrong between operator and API server; goes on where it was cut off (FRESH=1: from the start)
	@trap '[ -n "$(KEEP)" ] || $(RUN) -m sandbox down --name faults' EXIT
	$(if $(FRESH),rm -rf $(LLMSERVICE_CACHE)/faults)
	export LLMSERVICE_SANDBOX=faults RESULTS=$(LLMSERVICE_CACHE)/faults
	$(call part,fault tests,$(RUN) -m pytest -v -m faults $(call among,tests/faults))

.PHONY: test-hostile
test-hostile: setup ## What a hostile tenant can do to others, 25 minutes; writes its table into the docs (SEED=7: other generated ones)
	@trap '[ -n "$(KEEP)" ] || $(RUN) -m sandbox down --name hostile' EXIT
	export LLMSERVICE_SANDBOX=hostile SEED=$(SEED) WRITE_TABLE=$(if $(TESTS),,1)
	$(call part,hostile tests,$(RUN) -m pytest -v -m hostile $(call among,tests/hostile))

.PHONY: test-load
test-load: setup ## Minutes of load on real llama.cpp: replicas up and down again, by each policy and source
	@trap '[ -n "$(KEEP)" ] || $(RUN) -m sandbox down --name load' EXIT
	export LLMSERVICE_SANDBOX=load
	$(call part,load tests,$(RUN) -m pytest -v -s -m load $(call among,tests/load))

.PHONY: test-bench
test-bench: setup image-tools ## `llmservice bench` with its real load generator on real llama.cpp, from here and as a Job (first time: 900 MB)
	@trap '[ -n "$(KEEP)" ] || $(RUN) -m sandbox down --name "$${LLMSERVICE_SANDBOX:-bench}"' EXIT
	export LLMSERVICE_SANDBOX="$${LLMSERVICE_SANDBOX:-bench}"
	$(call part,tests of the bench,$(RUN) -m pytest -v -m bench $(call among,tests/bench))

.PHONY: test-streams
test-streams: setup ## Streamed answers while replicas come and go, 15 minutes; writes its table into the docs
	@trap '[ -n "$(KEEP)" ] || $(RUN) -m sandbox down --name streams' EXIT
	export LLMSERVICE_SANDBOX=streams WRITE_TABLE=$(if $(TESTS),,1)
	$(call part,tests of streams,$(RUN) -m pytest -v -m streams $(call among,tests/streams))

.PHONY: test-zero
test-zero: setup image-tools ## Services without a replica, their activators and many clients, 20 minutes (KEEP=1 leaves the sandbox running)
	@trap '[ -n "$(KEEP)" ] || $(RUN) -m sandbox down --name test-zero' EXIT
	export LLMSERVICE_SANDBOX=test-zero
	$(call part,tests of zero,$(RUN) -m pytest -v -s -m zero $(call among,tests/zero))

.PHONY: test-routes
test-routes: setup ## HTTPRoutes of services, followed by a stand-in for a gateway's controller with HAProxy and TLS
	@trap '[ -n "$(KEEP)" ] || $(RUN) -m sandbox down --name routes' EXIT
	export LLMSERVICE_SANDBOX=routes
	$(call part,tests of routes,$(RUN) -m pytest -v -m routes $(call among,tests/routes))

.PHONY: test-gitops
test-gitops: setup image-tools ## Flux's real controllers and Argo CD's engine beside a real cluster (first time: 15 minutes to build them)
	@trap '[ -n "$(KEEP)" ] || $(RUN) -m sandbox down --name gitops' EXIT
	export LLMSERVICE_SANDBOX=gitops
	$(call part,tests of GitOps clients,$(RUN) -m pytest -v --durations=20 -m gitops $(call among,tests/gitops/clients))

.PHONY: test-nodes
test-nodes: setup image-tools ## Replicas on several nodes: groups by the real controller of LeaderWorkerSets, with a played engine
	@trap '[ -n "$(KEEP)" ] || $(RUN) -m sandbox down --name nodes' EXIT
	export LLMSERVICE_SANDBOX=nodes
	$(call part,tests of groups,$(RUN) -m pytest -v --durations=20 -m nodes $(call among,tests/nodes))

.PHONY: test-vllm
test-vllm: setup image-tools ## The tests on the real vLLM on CPUs (20 GB of disk; KEEP=1 leaves the sandbox running)
	@trap '[ -n "$(KEEP)" ] || $(RUN) -m sandbox down --name vllm' EXIT
	export LLMSERVICE_SANDBOX=vllm
	$(call part,vLLM tests,$(RUN) -m pytest -v -m vllm $(call among,tests/vllm))

.PHONY: test-engines
test-engines: setup image-tools ## Every engine that runs on CPUs, behind its Service (KEEP=1 leaves the sandbox running)
	@trap '[ -n "$(KEEP)" ] || $(RUN) -m sandbox down --name engines' EXIT
	export LLMSERVICE_SANDBOX=engines
	$(call part,tests of engines,$(RUN) -m pytest -v -m engines $(call among,tests/engines))

GATEWAY_VENV := $(LLMSERVICE_CACHE)/gateway-$(shell sha256sum requirements/gateway.lock | cut -c1-12)

$(GATEWAY_VENV)/ready: | requirements/gateway.lock
	@$(call part,LiteLLM,$(PYTHON) -m venv --clear $(GATEWAY_VENV); $(GATEWAY_VENV)/bin/pip install --quiet --no-deps --require-hashes --requirement requirements/gateway.lock)
	touch $@

.PHONY: test-gateway
test-gateway: setup $(GATEWAY_VENV)/ready ## The configuration that `llmservice gateway-config` prints, taken by a real LiteLLM
	@export LITELLM=$(GATEWAY_VENV)/bin/litellm
	$(call part,gateway tests,$(RUN) -m pytest -v -m gateway $(call among,tests/gateway))

.PHONY: sbom
sbom: $(VENV)/ready ## List the packages of the operator's image, by version and hash: build/sbom.cdx.json (CycloneDX)
	@$(RUN) -m tools.sbom build/sbom.cdx.json

# REGISTRY and REPOSITORY: those of a fork; DIGEST: the image is in the registry already; PLUGINS: kubectl-llm is built.
RELEASE_OPTIONS = $(if $(REGISTRY),--registry $(REGISTRY)) $(if $(REPOSITORY),--repository $(REPOSITORY)) \
  $(if $(DIGEST),--image-digest $(DIGEST)) $(if $(PLUGINS),--plugins $(PLUGINS)) $(if $(BUILDER),--builder $(BUILDER)) \
  $(if $(FINAL),--final)

.PHONY: release
release: $(VENV)/ready $(if $(DIGEST),,image-tools) ## Make every file of a release from this commit: make release VERSION=0.1.0 (REGISTRY=, REPOSITORY= of a fork)
	@$(RUN) -m tools.release build "$(VERSION)" $(RELEASE_OPTIONS)

.PHONY: release-twice
release-twice: $(VENV)/ready image-tools ## The same twice, from nothing each time; every file has to have the same bytes
	@$(RUN) -m tools.release twice "$(VERSION)" $(RELEASE_OPTIONS)

.PHONY: release-check
release-check: $(VENV)/ready ## Say why VERSION= cannot be released from this commit (FINAL=1: the changelog names the day)
	@$(RUN) -m tools.release check "$(VERSION)" $(if $(FINAL),--final)

.PHONY: workflows
workflows: $(VENV)/ready ## Lint the workflows of GitHub: actionlint, and zizmor for what others could misuse
	@$(RUN) -m tools.workflows

.PHONY: test-release
test-release: setup image-tools ## Make a release of this commit and install exactly its files (RELEASE=folder: one that is there)
	@version=$$($(RUN) -c 'import llmservice; print(llmservice.__version__)')
	$(if $(RELEASE),export RELEASE=$(RELEASE),$(MAKE) release VERSION=$$version)
	$(call part,release tests,$(RUN) -m pytest -v -m release $(call among,tests/release))

.PHONY: rename
rename: $(VENV)/ready ## Another VERSION=, REGISTRY= or REPOSITORY= in every file that names them
	@$(RUN) -m tools.release rename $(if $(VERSION),--version $(VERSION)) $(if $(REGISTRY),--registry $(REGISTRY)) $(if $(REPOSITORY),--repository $(REPOSITORY))

.PHONY: format
format: $(VENV)/ready ## Format and fix what can be fixed
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

.PHONY: crds
crds: $(VENV)/ready ## Write crds/ from the types
	@$(RUN) -m llmservice crd > crds/llmservices.llmservice.dev.yaml

.PHONY: charts
charts: setup ## Write what chart and manifests take from elsewhere: CRD, rights, alerts, dashboard, the table of values
	@$(RUN) -m tools.chart

.PHONY: docs
docs: $(VENV)/ready ## Write the pages of docs/reference that are made from code
	@$(RUN) -m tools.reference

.PHONY: gallery
gallery: $(VENV)/ready ## Write manifests/models: popular models, each on the smallest devices that hold it and on bigger ones
	@$(RUN) -m tools.gallery

.PHONY: site
site: $(VENV)/ready ## Build the documentation as a site: build/site
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

.PHONY: test-site
test-site: $(VENV)/ready ## Look at every page of the site in a browser: narrow, wide, light, dark; pictures in build/site-pictures
	@command -v "$${CHROMIUM:-chromium}" >/dev/null || { apt-get update -qq && apt-get install -qq --yes --no-install-recommends chromium; }
	$(call part,the site in a browser,$(RUN) -m pytest -q -n 2 $(call among,tests/site/browser))

.PHONY: site-version
site-version: $(VENV)/ready ## Keep the site as that of VERSION=0.2 (ALIAS=latest), beside others, in the local branch site-versions
	@test -n "$(VERSION)" || { echo "VERSION=0.2 names the version" >&2; exit 2; }
	$(BIN)/mike deploy --config-file mkdocs-versions.yml --branch site-versions --update-aliases "$(VERSION)" $(ALIAS)
	$(if $(ALIAS),$(BIN)/mike set-default --config-file mkdocs-versions.yml --branch site-versions $(ALIAS))

.PHONY: recording
recording: setup ## Record the terminal on the start page anew, from a real run on the sandbox
	@$(RUN) -m tools.website.recording docs/assets/terminal.svg

.PHONY: golden
golden: $(VENV)/ready ## Write the expected manifests of tests/golden/ anew: read the diff before you commit it
	@$(RUN) -m tests.golden.rewrite

.PHONY: flags
flags: $(VENV)/ready ## Record vLLM's options from its wheels (downloads about 350 MB a version)
	@$(RUN) -m tools.engine_flags vllm 0.10.2 0.17.1 0.24.0 0.32.0 0.33.0

.PHONY: flags-llamacpp
flags-llamacpp: setup ## Record llama.cpp's options from the binary that the tests build
	@$(LLMSERVICE_CACHE)/builds/llama.cpp-b11312-*/llama-server --help \
	  | $(RUN) -m llmservice.catalog.recorded_flags > operator/llmservice/catalog/flags/llamacpp-b11312.txt

.PHONY: flags-llamacpp-older
flags-llamacpp-older: $(VENV)/ready ## Record the options of older llama.cpp builds (downloads about 70 MB a build)
	@$(RUN) -m tools.engine_flags llamacpp b9445 --commit af6528e6d --package 0.3.24
	@$(RUN) -m tools.engine_flags llamacpp b10454 --commit 4df29be4f --package 0.3.35

.PHONY: flags-tgi
flags-tgi: $(VENV)/ready ## Record TGI's options (needs the public repository: CLONE=folder)
	@$(RUN) -m tools.engine_flags tgi 3.0.1 3.1.0 3.3.5 3.3.7 --clone $(CLONE)

.PHONY: flags-transformers
flags-transformers: $(VENV)/ready ## Record the options of `transformers serve` from its wheels (about 13 MB a version)
	@$(RUN) -m tools.engine_flags transformers 5.19.0 5.23.0

.PHONY: flags-sglang
flags-sglang: $(VENV)/ready ## Record SGLang's options from its wheels (downloads 5 to 39 MB a version)
	@$(RUN) -m tools.engine_flags sglang 0.5.9 0.5.14 0.5.19 0.5.23

.PHONY: flags-lmdeploy
flags-lmdeploy: $(VENV)/ready ## Record LMDeploy's options from its wheels (downloads about 110 MB a version)
	@$(RUN) -m tools.engine_flags lmdeploy 0.14.0 0.16.0 0.18.0

.PHONY: flags-ollama
flags-ollama: $(VENV)/ready ## Record Ollama's variables (needs the public repository: CLONE=folder)
	@$(RUN) -m tools.engine_flags ollama 0.17.4 0.24.0 0.32.15 --clone $(CLONE)

.PHONY: flags-tabbyapi
flags-tabbyapi: $(VENV)/ready ## Record TabbyAPI's options (needs the public repository: CLONE=folder)
	@$(RUN) -m tools.engine_flags tabbyapi 2026.7.18 0158fb48d76546a6475d1d63f6cd5b90932d1d11 --clone $(CLONE)

.PHONY: flags-ctranslate2
flags-ctranslate2: $(VENV)/ready ## Record the options of the project's server for CTranslate2
	@$(RUN) -m tools.engine_flags ctranslate2 4.8.5

.PHONY: lock
lock: $(VENV)/ready ## Lock the newest allowed dependencies, with hashes
	@$(BIN)/uv pip compile -q pyproject.toml --universal --python-version 3.11 --upgrade \
	  --generate-hashes --no-header --no-emit-index-url -o requirements/runtime.lock
	$(BIN)/uv pip compile -q pyproject.toml --group dev --universal --python-version 3.11 --upgrade \
	  --generate-hashes --no-header --no-emit-index-url -c requirements/runtime.lock -o $(LOCK)
	$(BIN)/uv pip compile -q requirements/gateway.in --python-version 3.11 --upgrade \
	  --generate-hashes --no-header --no-emit-index-url -o requirements/gateway.lock
	$(BIN)/uv pip compile -q pyproject.toml --group release --universal --python-version 3.11 --upgrade \
	  --generate-hashes --no-header --no-emit-index-url -c requirements/runtime.lock -o requirements/release.lock
	$(BIN)/uv pip compile -q images/ctranslate2/requirements.in --universal --python-version 3.11 --upgrade \
	  --generate-hashes --no-header --no-emit-index-url -c $(LOCK) -o images/ctranslate2/requirements.lock
	$(BIN)/uv pip compile -q images/ctranslate2/requirements-cuda.in --python-platform x86_64-manylinux_2_28 --upgrade \
	  --python-version 3.11 --generate-hashes --no-header --no-emit-index-url -o images/ctranslate2/requirements-cuda.lock
	$(BIN)/python -c 'from llmservice.bench.generator import VERSION; print(f"aiperf=={VERSION}")' | $(BIN)/uv pip compile -q - \
	  --universal --python-version 3.11 --upgrade --generate-hashes --no-header --no-emit-index-url -o operator/llmservice/bench/generator.lock

.PHONY: bench
bench: setup ## Print the figures: rendering, applying, creation to Deployment
	@for file in benchmarks/bench_*.py; do $(call part,$$file,$(RUN) $$file); done

.PHONY: bench-prediction
bench-prediction: setup ## How well a saved profile predicts other loads on real llama.cpp, 15 minutes on two idle cores
	@rm -rf build/prediction
	$(call part,prediction,$(RUN) -m benchmarks.prediction)

.PHONY: bench-scale
bench-scale: setup ## Thousands of LLMServices on KWOK's nodes; writes docs/reference/scale.* (SIZES="100 500" selects)
	@$(call part,scale bench,$(RUN) -m benchmarks.scale $(SIZES))
