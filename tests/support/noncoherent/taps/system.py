"""A system for tests of the taps, and their blocks with bugs planted in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from types import ModuleType
from typing import Any

from amaranth.hdl import Value

from racetrap.golden_model.noncoherent.packets import BusOperation
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.noncoherent.taps.address_map import Window
from racetrap.golden_model.noncoherent.taps.params import (
    ZICBOM,
    Attribute,
    EngineRegisters,
    MaintenanceWord,
    Region,
    TapParams,
)
from racetrap.golden_model.trace.noncoherent.operations import OperationKind
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.planted_bugs import modules_with
from tests.support.rtl.streams import simulate

#: VexRiscv's word that flushes the whole cache.
FLUSH_ALL_WORD = MaintenanceWord(0xFFFF_FFFF, 0x0000_500F, OperationKind.FLUSH_ALL)
PARAMS = TapParams(
    monitor=NoncoherentParams(engines=2),
    regions=(
        # A hole in the memory behind it.
        Region(0x8000_0100, 0x100, Attribute.IGNORED),
        Region(0x8000_0000, 0x1000, Attribute.CACHED),
        Region(0xA000_0000, 0x1000, Attribute.UNCACHED, 0x8000_0000),
    ),
    windows=2,
    maintenance=(*ZICBOM, FLUSH_ALL_WORD),
    depth=4,
)
REGISTERS = EngineRegisters(
    source=0x00, target=0x04, length=0x08, rows=0x0C, stride=0x10, start=0x14, read_mask=1,
    write_mask=2, status=0x18,
)  # fmt: skip
_FILES = (
    "layouts", "address_map", "rvfi_tap", "last_stage", "descriptor_tap", "tap_queue",
)  # fmt: skip


def tap_bugs(bugs: Mapping[str, tuple[str, str, str]]) -> dict[str, Patch]:
    """Bugs by name: each is given as a file's name, what stands there, and what instead."""
    return {
        name: Patch(f"noncoherent/taps/{file}.py", before, after)
        for name, (file, before, after) in bugs.items()
    }


def module_of(name: str, bug: Patch | None) -> ModuleType:
    """A block's module made anew, with a bug in one of the taps' files."""
    modules = modules_with([f"noncoherent/taps/{each}.py" for each in _FILES], bug)
    return modules[f"noncoherent/taps/{name}.py"]


def random_windows(random: Random) -> list[Window]:
    """Windows in the cached region, some of them empty."""
    windows = []
    for _ in range(PARAMS.windows):
        first = 0x8000_0000 + random.randrange(0x1000)
        windows.append(Window(first, first + random.choice((0, 0, 3, 0x400))))
    return windows


def packed_windows(windows: Sequence[Window]) -> int:
    """Windows as the hardware's input."""
    return sum(
        (window.first | window.end << 32) << 64 * number for number, window in enumerate(windows)
    )


def random_address(random: Random) -> int:
    """An address in the system's regions, at their borders, or anywhere."""
    region = random.choice(PARAMS.regions)
    border = random.choice((region.base, region.base + region.size)) + random.randrange(-8, 8)
    inside = region.base + random.randrange(region.size)
    address = random.choice((inside, inside, border, random.getrandbits(32)))
    return address & 0xFFFF_FFFF


def outputs_of(dut: Any, inputs: Sequence[dict[str, int]]) -> list[list[BusOperation]]:
    """Operations in the lanes one cycle after each set of inputs, which are given by name."""
    layout = PARAMS.monitor.operation_layout
    found: list[list[BusOperation]] = []

    async def play(ctx: Any) -> None:
        lanes = [dut.o_lanes[number] for number in range(2)]
        for each in [*inputs, {}]:
            for name, value in each.items():
                ctx.set(Value.cast(getattr(dut, name)), value)
            *_, first, one, second, other = await ctx.tick().sample(
                *(part for lane in lanes for part in (lane.valid, Value.cast(lane.operation)))
            )
            pairs = ((first, one), (second, other))
            found.append([BusOperation(**layout.unpack(word)) for valid, word in pairs if valid])

    simulate(dut, play)
    return found[1:]
