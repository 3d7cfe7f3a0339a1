"""Tiles of GPU detectors: small enough for a chip, and launched by levels that take any time."""

import time
from dataclasses import replace

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.generators.artefacts import generate
from racetrap.generators.causality import CAUSALITY
from racetrap.generators.description import describe_ports
from racetrap.generators.scord import SCORD
from racetrap.rtl.gpu.tile_launch import TileClear, TileLaunch
from tests.support.planted_bugs import module_with
from tests.support.rtl.linters import verilator_findings
from tests.support.rtl.streams import pulse, simulate

_MOST_PORTS, _MOST_PINS = 60, 3000
#: CPU time of this process to write a tile of a real GPU; Yosys, a child, takes some, too.
_MOST_SECONDS = 30
_PRESETS = [
    (system, name)
    for system in (SCORD, CAUSALITY)
    for name in (*system.presets, *system.large_presets)
]


@pytest.mark.parametrize(("system", "name"), _PRESETS, ids=lambda each: getattr(each, "name", each))
def test_tiles_are_small_enough_for_a_chip(system, name):
    preset = {**system.presets, **system.large_presets}[name]
    params = replace(preset.params, trace_port=False)
    for part in ("sm-unit", "slice-unit"):
        ports = describe_ports(system.parts[part](params))
        pins = sum(port["width"] for port in ports.values())
        assert len(ports) <= _MOST_PORTS, f"{part}: {len(ports)} ports"
        assert pins <= _MOST_PINS, f"{part}: {pins} pins"


_OF_GPUS = [case for case in _PRESETS if case[1] in case[0].large_presets]


@pytest.mark.campaign
@pytest.mark.parametrize(("system", "name"), _OF_GPUS, ids=lambda each: getattr(each, "name", each))
def test_tiles_of_a_gpu_are_written_in_seconds_and_clean(system, name, tmp_path):
    params = system.large_presets[name].params
    for part in ("sm-unit", "slice-unit"):
        begun = time.process_time()
        files = generate(name, params, tmp_path / part, parts=[part])
        seconds = time.process_time() - begun
        print(f"{name}, {part}: {seconds:.1f} s of CPU time")
        assert seconds < _MOST_SECONDS
        assert verilator_findings(files[f"verilog {part}"], files["verilator"]) == ""


@pytest.mark.parametrize("system", [SCORD, CAUSALITY], ids=lambda system: system.name)
def test_joined_tiles_have_the_ports_of_the_whole_system(system):
    params = system.presets[f"{system.name}-tiny"].params
    assert describe_ports(system.parts["tiles"](params)) == describe_ports(system.top(params))


class _Levels(wiring.Component):
    """Both ends of a tile's levels, each of which is registered some number of times."""

    def __init__(self, delays, launch, clear):
        self._delays, self._ends = delays, (launch, clear)
        super().__init__({
            "i_hold": In(1), "o_closed": Out(1), "i_clear": In(1), "o_busy": Out(1),
            "o_tile_hold": Out(1), "i_drained": In(1),
            "i_idle": In(1), "o_clear": Out(1), "i_busy": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        launch, clear = self._ends[0](), self._ends[1]()
        m.submodules.launch, m.submodules.clear = launch, clear
        hold, drained, level, cleared = self._delays
        m.d.comb += [
            launch.i_hold.eq(self.i_hold), self.o_closed.eq(launch.o_closed),
            launch.i_clear.eq(self.i_clear), self.o_busy.eq(launch.o_busy),
            launch.i_tile_drained.eq(_later(m, self.i_drained, drained)),
            self.o_tile_hold.eq(_later(m, launch.o_tile_hold, hold)),
            clear.i_level.eq(_later(m, launch.o_tile_clear, level)),
            launch.i_tile_cleared.eq(_later(m, clear.o_done, cleared)),
            clear.i_idle.eq(self.i_idle), clear.i_busy.eq(self.i_busy),
            self.o_clear.eq(clear.o_clear),
        ]  # fmt: skip
        return m


def _later(m, value, cycles):
    for _ in range(cycles):
        stage = Signal()
        m.d.sync += stage.eq(value)
        value = stage
    return value


def _launch_with_all(launch, clear):
    for delays in _DELAYS:
        _launch_often(delays, launch, clear)


def _launch_often(delays, launch=TileLaunch, clear=TileClear):
    """Launches, one at once after the other; the tile drains and clears for some cycles."""
    dut = _Levels(delays, launch, clear)
    clears, cycle, held, draining, clearing = [], 0, 0, 0, 0

    async def tile(ctx):
        """It has something in it when it is held, and is busy from the cycle after a clear."""
        nonlocal cycle, held, draining, clearing
        while True:
            *_, hold, clears_now = await ctx.tick().sample(dut.o_tile_hold, dut.o_clear)
            cycle += 1
            held = held + 1 if hold else 0
            draining = (held < 5 + len(clears) % 3) if hold else 1
            if clears_now:
                assert held, "a tile is cleared that is not held"
                assert not draining, "a tile is cleared that is not drained"
                clears.append(cycle)
            clearing = 6 if clears_now else max(0, clearing - 1)
            ctx.set(dut.i_drained, int(bool(hold) and not draining))
            ctx.set(dut.i_idle, int(not draining))
            ctx.set(dut.i_busy, int(clearing > 0))

    async def launches(ctx):
        for number in range(1, 6):
            ctx.set(dut.i_hold, 1)
            await ctx.tick()
            while not ctx.get(dut.o_closed):
                await ctx.tick()
            assert held, "a tile counts as closed that is not held"
            assert not draining, "a tile counts as closed that is not drained"
            await pulse(ctx, dut.i_clear)
            await ctx.tick()
            while ctx.get(dut.o_busy):
                await ctx.tick()
            assert len(clears) == number
            assert not clearing, "a launch ends before the tile is clear"
            ctx.set(dut.i_hold, 0)
            await ctx.tick()

    simulate(dut, launches, background=[tile], cycles=3000)


_DELAYS = [(0, 0, 0, 0), (3, 3, 3, 3), (0, 7, 1, 2), (5, 0, 0, 9), (0, 0, 12, 12)]


@pytest.mark.parametrize("delays", _DELAYS)
def test_a_launch_waits_for_levels_that_take_any_time(delays):
    _launch_often(delays)


_FILE = "gpu/tile_launch.py"
_BUGS = {
    "drained as of the launch before": (
        "self.o_closed.eq(self.i_tile_drained & was_open)", "self.o_closed.eq(self.i_tile_drained)"
    ),
    "busy only while it asks": (
        "self.o_busy.eq(clearing | self.i_tile_cleared)", "self.o_busy.eq(clearing)"
    ),
    "not busy before it answers": (
        "self.o_busy.eq(clearing | self.i_tile_cleared)", "self.o_busy.eq(self.i_tile_cleared)"
    ),
    "busy is looked for at once": ('m.next = "START"', 'm.next = "DONE"'),
    "clears for ever": ("with m.If(~self.i_level):", "with m.If(1):"),
}  # fmt: skip


@pytest.mark.parametrize("name", _BUGS)
def test_planted_bug_is_found(name):
    module = module_with(_FILE, _BUGS[name])
    with pytest.raises((AssertionError, TimeoutError)):
        _launch_with_all(module.TileLaunch, module.TileClear)
