"""The tiles of ScoRD, joined: as the golden model under any delay, and small enough for a chip."""

from dataclasses import replace

import pytest

from racetrap.generators.description import describe_ports
from racetrap.generators.presets import find_preset
from racetrap.generators.scord import SCORD
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.scord.params import AccessPolicy
from racetrap.rtl.scord.tiles import ScordTiles
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.memory_timing import MemoryTiming
from racetrap.sim.cosim.fast.simulation import SimulationError
from racetrap.sim.cosim.scord.fast_compare import check_launch
from racetrap.sim.cosim.scord.fast_simulation import FastSim
from racetrap.sim.cosim.scord.knobs import KNOBS
from racetrap.sim.cosim.scord.random_events import random_events, transactions_of
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.rtl.ready_paths import valid_to_ready_paths
from tests.support.scord.tiles import build_tiles

_REGION = Region(data_base=1 << 13, size_log2=13, metadata_base=0x8000)
_FOUR = replace(find_preset("scord-tiny").params, sm_count=4, banks=4)
#: Four SMs and four slices, with what else a configuration may have.
_SIZES = {
    "plain": _FOUR,
    "lanes": replace(_FOUR, banks=8, words_per_cycle=2, fence_lanes=4, slot_generation_bits=2),
    "buffers": replace(_FOUR, access_buffer_depth=4, access_policy=AccessPolicy.DROP),
    "local": replace(_FOUR, local_bytes=1 << 13),
}
_TIMINGS = (
    MemoryTiming(watchdog=100_000),
    MemoryTiming(idle_percent=40, latency=9, jitter=25, reorder=True, back_pressure=30,
                 watchdog=100_000),
    MemoryTiming(jitter=5, reorder=True, read_errors=3000, write_errors=3000, watchdog=100_000),
)  # fmt: skip
_MOST_PORTS, _MOST_PINS = 60, 3000


def _play(model, seeds, instructions, timing=_TIMINGS[0]):
    """Launches one after the other on a fresh system; accesses that were compared."""
    accesses = 0
    with FastSim(model, seed=seeds[0], timing=timing) as sim:
        for seed in seeds:
            knobs = KNOBS[[*KNOBS][seed % len(KNOBS)]]
            events = random_events(model.params, _REGION, knobs, seed, instructions)
            played = list(transactions_of(events, model.params))
            result = check_launch(sim, model.params, _REGION, played, capacity_log2=6)
            accesses += result.accesses
    return accesses


@pytest.mark.campaign
@pytest.mark.parametrize("size", _SIZES)
def test_tiles_agree_with_the_golden_model_under_random_delays(size):
    model = build_tiles("scord-tiny", _SIZES[size])
    for number, timing in enumerate(_TIMINGS):
        seeds = range(100 * number, 100 * number + 2 * len(KNOBS))
        assert _play(model, seeds, 400, timing) > 10_000


#: Bugs that only whole tiles show; those of requests and responses have tests of their own.
_BUGS = {
    "slices by the wrong bit": Patch(
        "scord/request_sender.py", "port_number(params, packet)",
        "port_number(params, packet) ^ (packet.strong)",
    ),
    "lock masks of SM 0": Patch("scord/sm_unit.py", "masks[self.i_sm]", "masks[0]"),
    "tracker without its number": Patch("scord/sm_unit.py", "tracker.i_sm.eq(self.i_sm)", "[]"),
    "fences that need no answer": Patch(
        "scord/sm_unit.py", "tracker.i_fenced.eq(sender.o_fenced)", "tracker.i_fenced.eq(-1)"
    ),
    "drained before all is complete": Patch(
        "scord/sm_unit.py", "gate.o_closed & sender.o_idle", "gate.o_closed"
    ),
    "slice without its number": Patch("scord/slice_unit.py", "bank.i_port.eq(self.i_port)", "[]"),
    "slice does not clear": Patch("scord/slice_unit.py", "bank.i_clear.eq(clear.o_clear)", "[]"),
    "events of a slice are not counted": Patch(
        "scord/slice_unit.py", "zip(self.o_count, bank.o_count, strict=True)", "()"
    ),
}  # fmt: skip


@pytest.mark.campaign
@pytest.mark.parametrize("name", _BUGS)
def test_planted_bug_is_found(name):
    model = build_tiles("scord-tiny", _FOUR, _BUGS[name])
    with pytest.raises((Mismatch, SimulationError)) as caught:
        _play(model, range(2 * len(KNOBS)), 200, MemoryTiming(watchdog=5_000))
    print(f"{name}: {caught.value}")


@pytest.mark.parametrize("name", [*SCORD.presets, *SCORD.large_presets])
def test_tiles_are_small_enough_for_a_chip(name):
    params = replace(find_preset(name).params, trace_port=False)
    for part in ("sm-unit", "slice-unit"):
        ports = describe_ports(SCORD.parts[part](params))
        pins = sum(port["width"] for port in ports.values())
        assert len(ports) <= _MOST_PORTS, f"{part}: {len(ports)} ports"
        assert pins <= _MOST_PINS, f"{part}: {pins} pins"


@pytest.mark.parametrize("size", ["plain", pytest.param("lanes", marks=pytest.mark.campaign)])
def test_joined_tiles_have_the_ports_of_the_whole_system(size):
    params = _SIZES[size]
    assert describe_ports(ScordTiles(params)) == describe_ports(SCORD.top(params))


@pytest.mark.campaign
@pytest.mark.parametrize("part", SCORD.parts)
def test_no_ready_depends_on_a_valid(part):
    assert not valid_to_ready_paths(SCORD.parts[part](_SIZES["lanes"]))
