"""Systems with tables of valid segments agree with the golden model; planted bugs are found."""

from dataclasses import replace

import pytest

from racetrap.generators.presets import find_preset
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.gpu.valid_table import is_covered
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.build import build_fast
from racetrap.sim.cosim.fast.memory_timing import MemoryTiming
from racetrap.sim.cosim.fast.simulation import SimulationError
from racetrap.sim.cosim.scord.fast_compare import check_launch
from racetrap.sim.cosim.scord.fast_simulation import FastSim
from racetrap.sim.cosim.scord.knobs import KNOBS
from racetrap.sim.cosim.scord.random_events import random_events, transactions_of
from racetrap.sim.cosim.verilator.patch import Patch

pytestmark = pytest.mark.campaign

_PARAMS = replace(
    find_preset("scord-tiny").params, banks=6, words_per_cycle=2, fence_lanes=2, valid_segments=64
)
_TIMINGS = [
    MemoryTiming(watchdog=5000),
    MemoryTiming(watchdog=5000, idle_percent=40, latency=9, jitter=25, reorder=True),
    MemoryTiming(watchdog=5000, jitter=5, reorder=True, read_errors=3000, write_errors=3000),
]
#: A part of the first has bits, all of the second; the third is too large for any simulated sweep.
_REGIONS = [Region(1 << 13, 13, 0x8000), Region(1 << 12, 12, 0x8000), Region(1 << 34, 34, 0x8000)]


def _compare(model, instructions=150):
    """Launches on all sorts of traffic, one after the other and after resets; the accesses."""
    accesses = 0
    for region, timing in zip(_REGIONS, _TIMINGS, strict=True):
        with FastSim(model, seed=5, timing=timing) as sim:
            for seed, knobs in enumerate(KNOBS.values()):
                events = list(random_events(model.params, region, knobs, seed, instructions))
                played = list(transactions_of(events, model.params))
                result = check_launch(
                    sim, model.params, region, played, in_order=bool(seed % 2), capacity_log2=4
                )
                accesses += result.accesses
                if seed % 3 == 0:
                    sim.launch(region)
                    sim.reset_after(sim.queues(played), 50 + 17 * seed)
    return accesses


def test_hardware_agrees():
    assert [is_covered(_PARAMS, region) for region in _REGIONS] == [False, True, False]
    assert _compare(build_fast("scord-tiny", _PARAMS)) > 5000


_PLANTED = {
    "bit not set": Patch("gpu/valid_table.py", "row | (1 << place[:column_bits])", "row"),
    "bit of the segment ahead not seen": Patch(
        "gpu/valid_table.py", "was_written.eq(write.en & (write.addr == read.addr))",
        "was_written.eq(0)",
    ),
    "table survives launch": Patch(
        "scord/detector_bank.py", "table.i_clear.eq(self.i_clear)", "table.i_clear.eq(0)"
    ),
    "absent word of a new segment": Patch(
        "gpu/metadata_accessor.py", "Mux(taken.is_new, params.uninitialised_entry, entry)",
        "Mux(taken.is_new, params.uninitialised_entry if lane else 0, entry)",
    ),
    "a new segment's entries written in part": Patch(
        "gpu/metadata_accessor.py", "result_in.data.lost[lane].eq(checked.p.lost)",
        "result_in.data.lost[lane].eq(checked.p.lost | ~checked.p.changed)",
    ),
    "segments of two ports have one bit": Patch(
        "gpu/valid_table.py", "number = within[params.port_shift :]",
        "number = within[params.port_shift + 1 :]",
    ),
    "sweep begins late": Patch(
        "gpu/init_engine.py", "index.eq(self.i_port | first)",
        "index.eq(self.i_port | first << 1)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", _PLANTED)
def test_planted_bug_is_found(name):
    model = build_fast("scord-tiny", _PARAMS, _PLANTED[name])
    with pytest.raises((Mismatch, SimulationError)) as caught:
        _compare(model, instructions=300)
    print(f"{name}: {caught.value}")
