"""The AXI monitor against its model, planted bugs, and bursts in a whole system."""

from random import Random

import pytest
from amaranth.hdl import Value

from racetrap.golden_model.axi import AxiBurst
from racetrap.golden_model.noncoherent.axi_monitor import AxiMonitor
from racetrap.golden_model.noncoherent.packets import BusOperation
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.trace.noncoherent.operations import OperationKind
from racetrap.rtl.noncoherent.system import NoncoherentSystem
from tests.support.noncoherent.bus_bench import BUS_BUGS, observed, random_cycles
from tests.support.rtl.axi_lite import axil_write
from tests.support.rtl.streams import put, simulate

_PARAMS = NoncoherentParams(
    engines=2, address_bits=16, tag_bits=8, observes_bus=True, bus_fifo_depth=256, entries=2
)
_SMALL = NoncoherentParams(
    engines=3, address_bits=16, tag_bits=8, observes_bus=True, bus_fifo_depth=2, entries=2
)
_LOSS_BUG = "loss-is-not-counted"


def _due(params, cycles):
    model = AxiMonitor(params)
    return [
        params.operation_layout.pack(operation._asdict())
        for cycle in cycles
        for operation in model.cycle(cycle)
    ]


def _cycles(params, count=250):
    return random_cycles(Random(7), params, count)


@pytest.mark.parametrize("ready", [(1,), (0, 1, 1)], ids=["at once", "sometimes"])
def test_operations_are_those_of_the_model(ready):
    cycles = _cycles(_PARAMS)
    operations, lost = observed(_PARAMS, cycles, ready=ready)
    assert lost == 0
    assert operations == _due(_PARAMS, cycles)


def _bursts(params, words):
    """Bursts among operations, which their tags tell apart."""
    found = [params.operation_layout.unpack(word) for word in words]
    return [tuple(one.values()) for one in found if one["kind"] != OperationKind.SYNC]


def _accounts_for_all(bug=None):
    """Whether every burst comes as it must or is counted as lost, in a queue that overflows."""
    cycles = _cycles(_SMALL)
    words, lost = observed(_SMALL, cycles, bug, ready=(0, 0, 0, 1))
    due, found = _bursts(_SMALL, _due(_SMALL, cycles)), _bursts(_SMALL, words)
    rest = iter(due)
    assert len(found) < len(due)
    return all(one in rest for one in found) and len(found) + lost == len(due)


def test_what_finds_no_room_is_counted():
    assert _accounts_for_all()


def test_a_loss_that_is_not_counted_is_found():
    assert not _accounts_for_all(_LOSS_BUG)


@pytest.mark.parametrize("bug", [bug for bug in BUS_BUGS if bug != _LOSS_BUG])
def test_planted_bugs_are_found(bug):
    cycles = _cycles(_PARAMS, 120)
    assert observed(_PARAMS, cycles, bug)[0] != _due(_PARAMS, cycles)


def test_a_burst_races_with_what_the_cpu_has_not_written_back():
    """In a whole system: the bus and the CPU go through one monitor."""
    dut = NoncoherentSystem(_PARAMS)
    steps = []

    async def drive(ctx):
        await axil_write(ctx, dut.s_axil, 0x040, 1)
        write = BusOperation(OperationKind.CACHED_WRITE, 0, 0x100, 4, tag=9)
        await put(ctx, dut.i_operation, _PARAMS.operation_layout.pack(write._asdict()))
        await ctx.tick().repeat(10)
        bus = dut.i_axi
        values = {"arid": 1, "araddr": 0x102, "arlen": 0, "arsize": 1, "arburst": AxiBurst.INCR,
                  "arvalid": 1, "arready": 1}  # fmt: skip
        for name, value in values.items():
            ctx.set(getattr(bus, name), value)
        await ctx.tick()
        ctx.set(bus.arvalid, 0)
        for name, value in {"rid": 1, "rlast": 1, "rvalid": 1, "rready": 1}.items():
            ctx.set(getattr(bus, name), value)
        await ctx.tick()
        ctx.set(bus.rvalid, 0)
        await ctx.tick().repeat(30)

    async def watch(ctx):
        while True:
            *_, valid, word = await ctx.tick().sample(
                dut.trace.valid, Value.cast(dut.trace.payload)
            )
            if valid:
                steps.append(_PARAMS.step_layout.unpack(word))

    simulate(dut, drive, background=[watch])
    assert [step["row"]["kind"] for step in steps] == [
        OperationKind.CACHED_WRITE, OperationKind.DMA_READ, OperationKind.SYNC
    ]  # fmt: skip
    assert [step["cache"]["found"] for step in steps] == [0, 1, 0]
    assert steps[1]["cache"]["tag"] == 9
    assert steps[1]["row"]["engine"] == 1
