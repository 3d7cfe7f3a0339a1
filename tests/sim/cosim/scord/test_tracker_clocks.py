"""The rewritten Verilog: its text, and that nothing else happens in any cycle."""

from dataclasses import replace

import pytest

from racetrap.golden_model.gpu.region import Region
from racetrap.sim.cosim.fast.build import build_library
from racetrap.sim.cosim.fast.memory_timing import MemoryTiming
from racetrap.sim.cosim.scord.fast_compare import check_launch
from racetrap.sim.cosim.scord.fast_harness import HARNESS
from racetrap.sim.cosim.scord.fast_simulation import FastSim
from racetrap.sim.cosim.scord.knobs import KNOBS
from racetrap.sim.cosim.scord.random_events import random_events, transactions_of
from racetrap.sim.cosim.scord.tracker_clocks import gate_trackers

_INSTANCE = "  top_tracker tracker_{0} (\n    .\\i$4 (x),\n    .clk(clk),\n    .rst(rst)\n  );\n"


def test_each_tracker_gets_its_clock():
    gated = gate_trackers("".join(map(_INSTANCE.format, range(12))), 12)
    for name in ("tracker_1", "tracker_11"):
        assert gated.count(f"wire {name}__clk = clk & {name}__moves;") == 1
        assert (
            gated.count(f"  top_tracker {name} (\n    .\\i$4 (x),\n    .clk({name}__clk),\n") == 1
        )


def test_trackers_are_counted():
    with pytest.raises(ValueError, match=r"^Trackers in the Verilog must be 2, not 1$"):
        gate_trackers(_INSTANCE.format(0), 2)


def _cycles(model):
    """Every bit that leaves the hardware in two launches, and the cycles of the steps."""
    region = Region(data_base=1 << 13, size_log2=13, metadata_base=0x8000)
    timing = MemoryTiming(
        idle_percent=20, latency=5, jitter=9, reorder=True, back_pressure=20, watchdog=5_000
    )
    seen = []
    with FastSim(model, seed=3, timing=timing) as sim:
        for knobs in ("mixed", "contended"):
            events = random_events(model.params, region, KNOBS[knobs], 1, 400)
            check_launch(sim, model.params, region, transactions_of(events, model.params))
            banks = range(model.params.banks)
            steps = [(sim.step_words(bank).tobytes(), sim.step_cycles(bank)) for bank in banks]
            seen += [sim.stats, steps, [sim.read_cycles(bank) for bank in banks]]
            seen += [sim.counters(), sim.reports()]
    return seen


@pytest.mark.campaign
def test_all_cycles_are_the_designs_own(model, monkeypatch, tmp_path):
    rewritten = _cycles(model)
    monkeypatch.setenv("RACETRAP_CACHE", str(tmp_path))
    as_generated = replace(HARNESS, rewrite=lambda verilog, params: verilog)
    assert _cycles(build_library(model.preset, model.params, as_generated)) == rewritten
