"""The rewritten Verilog: its text, and that nothing else happens in any cycle."""

from dataclasses import replace

import pytest

from racetrap.generators.sigrace import SIGRACE
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.build import build_library
from racetrap.sim.cosim.fast.simulation import SimulationError
from racetrap.sim.cosim.sigrace.fast_harness import HARNESS
from racetrap.sim.cosim.sigrace.fast_simulation import FastSim, Timing
from racetrap.sim.cosim.sigrace.stream_compare import StreamCompare
from racetrap.sim.cosim.sigrace.unit_clocks import gate_units
from tests.support.threads.random_traces import random_thread_trace

_PARAMS = SIGRACE.presets["sigrace-tiny"].params
_UNITS = _PARAMS.cores * _PARAMS.contexts
_INSTANCE = """\
  x_core_unit core_unit_{0} (
    .clk(clk),
    .i__data(\\data${0} ),
    .rst(rst)
  );
"""
_VERILOG = (
    "module x(clk);\n"
    + "".join(map(_INSTANCE.format, range(12)))
    + "endmodule\n"
    + "module x_core_unit(clk, i__data, rst);\n  input clk;\n  input [4:0] i__data;\n"
    "  input rst;\nendmodule\n"
    "module x_core_unit_sets(clk);\n  input clk;\nendmodule\n"
)


def test_each_unit_gets_its_clock():
    gated = gate_units(_VERILOG, 12)
    for number in (1, 11):
        inputs = f"{{\\data${number} , rst}}"
        gate = f"gate_{number} (.clk(clk), .inputs({inputs}), .gated(gated_{number}));\n"
        assert f"  fast_gate #(.WIDTH(6)) {gate}" in gated
        assert f" core_unit_{number} (\n    .clk(gated_{number}),\n" in gated


def test_a_unit_is_a_module_with_all_that_is_in_it():
    gated = gate_units(_VERILOG, 12)
    assert "module x_core_unit(clk, i__data, rst);\n  /*verilator no_inline_module*/\n" in gated
    assert "module x_core_unit_sets(clk);\n  /*verilator inline_module*/\n" in gated


def test_units_are_counted():
    with pytest.raises(ValueError, match=r"^Core units in the Verilog must be 2, not 12$"):
        gate_units(_VERILOG, 2)


def test_no_register_of_a_unit_is_elsewhere(model):
    """The shim compares the memory of these classes alone."""
    headers = {path.name for path in (model.folder / "obj").glob("Vfast_top*_core_unit*.h")}
    assert len(headers) == 1


def _cycles(model):
    """Every bit that leaves the hardware while programs run, and the cycles of the steps."""
    seen = []
    for seed, timing in enumerate((Timing(), Timing(idle_percent=70), Timing(trap_stall=50))):
        trace = random_thread_trace(seed, _UNITS, events=500, addresses=24)
        with FastSim(model, seed, replace(timing, watchdog=5_000)) as sim:
            StreamCompare(sim, _PARAMS, _UNITS).run(trace.events)
            seen += [sim.stats, sim.rdm_words().tobytes(), sim.rdm_cycles(), sim.rdm.counters()]
            seen += [(sim.core_words(k).tobytes(), sim._trace_cycles(k)) for k in range(_UNITS)]
    return seen


def _built(change):
    """The tiny system with a change of the rewritten Verilog."""
    harness = replace(HARNESS, rewrite=lambda verilog, params: change(verilog))
    return build_library("sigrace-tiny", _PARAMS, harness)


@pytest.mark.campaign
def test_all_cycles_are_the_designs_own(model, monkeypatch, tmp_path):
    rewritten = _cycles(model)
    monkeypatch.setenv("RACETRAP_CACHE", str(tmp_path))
    ungated = _built(lambda verilog: gate_units(verilog, _UNITS).replace("clk & moves", "clk"))
    assert _cycles(ungated) == rewritten


@pytest.mark.campaign
def test_a_clock_that_misses_an_input_is_seen(monkeypatch, tmp_path):
    monkeypatch.setenv("RACETRAP_CACHE", str(tmp_path))
    blind = _built(
        lambda verilog: gate_units(verilog, _UNITS).replace("inputs == last", "1'b1 | ^inputs")
    )
    with pytest.raises((Mismatch, SimulationError)):
        _cycles(blind)
