"""Random traffic of a bus, and the AXI monitor that listens to it, with bugs planted if wanted."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from types import ModuleType

from amaranth.hdl import Value

from racetrap.golden_model.axi import AxiBurst
from racetrap.golden_model.noncoherent.axi_monitor import Burst, BusCycle
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from tests.support.planted_bugs import module_with
from tests.support.rtl.streams import simulate

_WRAP_LENGTHS = (1, 3, 7, 15)
_DRAIN = 40

#: Changes of noncoherent-tiny that observe a bus: one build of several tests.
OBSERVED = {"observes_bus": True, "bus_fifo_depth": 512}
#: Slips by name: what stands in the source, and what instead.
BUS_BUGS = {
    "wrap-begins-at-its-address": ("burst.address & ~(total - 1)", "burst.address"),
    "fixed-goes-on": ("Mux(burst.burst == AxiBurst.FIXED, beat, total)", "total"),
    "unaligned-burst-ends-late": ("(burst.address & ~(beat - 1))", "burst.address"),
    "write-beside-a-read-is-lost": ("~(left & (left - 1)).any()", "1"),
    "sync-while-a-burst-is-left": ("with m.If(left <= 0):", "with m.If(left <= 1):"),
    "read-not-counted": ("begun[0] + begun[1]", "begun[1]"),
    "any-beat-is-the-last": ("bus.rvalid & bus.rready & bus.rlast", "bus.rvalid & bus.rready"),
    "address-that-waits-is-taken": ("bus.awvalid & bus.awready", "bus.awvalid"),
    "engines-share-a-count": ("(number == engine)", "1"),
    "loss-is-not-counted": ("Mux(queue.i.ready, 0, reads + writes)", "0"),
}  # fmt: skip


def monitor_module(bug: str | None) -> ModuleType:
    """The monitor's module, made anew with the bug in."""
    return module_with("noncoherent/axi_monitor.py", None if bug is None else BUS_BUGS[bug])


def random_cycles(random: Random, params: NoncoherentParams, count: int) -> list[BusCycle]:
    """Cycles of a bus on which every burst ends, and responses come in any order of engines."""
    left: dict[str, list[int]] = {"read": [], "write": []}
    cycles = []
    while len(cycles) < count or left["read"] or left["write"]:
        fields: dict[str, object] = {}
        for name, engines in left.items():
            if engines and random.random() < 0.4:
                fields[f"{name}_done"] = engines.pop(random.randrange(len(engines)))
            if len(cycles) < count and len(engines) < 5 and random.random() < 0.3:
                burst = _burst(random, params)
                fields[name] = burst
        cycles.append(BusCycle(**fields))
        for name, engines in left.items():
            if isinstance(burst := fields.get(name), Burst):
                engines.append(burst.id)
    return cycles


def _burst(random: Random, params: NoncoherentParams) -> Burst:
    kind, size = random.choice(list(AxiBurst)), random.randrange(8)
    length = random.choice(_WRAP_LENGTHS) if kind is AxiBurst.WRAP else random.randrange(256)
    address = random.choice((random.randrange(1 << params.address_bits), 0x1000 - (1 << size)))
    if kind is AxiBurst.WRAP:
        address &= -(1 << size)
    return Burst(random.randrange(params.engines), address, length, size, kind)


def observed(
    params: NoncoherentParams, cycles: Sequence[BusCycle], bug: str | None = None,
    *, ready: Sequence[int] = (1,), seed: int = 1,
) -> tuple[list[int], int]:  # fmt: skip
    """Operations that the monitor makes, as packed words, and how many bursts it has lost.

    Parameters
    ----------
    params : NoncoherentParams
        Configuration.
    cycles : sequence of BusCycle
        The traffic.  Between handshakes the channels carry addresses and beats that do not count.
    bug : str, optional
        A planted bug.
    ready : sequence of int
        Whether operations are taken, in turn.
    seed : int
        Of what does not count.
    """
    dut = monitor_module(bug).AxiMonitor(params)
    random, operations, lost = Random(seed), [], 0

    async def drive(ctx):
        nonlocal lost
        for number in range(len(cycles) + _DRAIN * len(ready)):
            cycle = cycles[number] if number < len(cycles) else BusCycle()
            _put(ctx, dut.i_axi, cycle, random)
            ctx.set(dut.o_operation.ready, ready[number % len(ready)])
            *_, valid, taken, word, missed = await ctx.tick().sample(
                dut.o_operation.valid, dut.o_operation.ready,
                Value.cast(dut.o_operation.payload), dut.o_lost,
            )  # fmt: skip
            lost += missed
            if valid and taken:
                operations.append(word)

    simulate(dut, drive)
    return operations, lost


def _put(ctx, bus, cycle: BusCycle, random: Random) -> None:
    for prefix, burst in (("ar", cycle.read), ("aw", cycle.write)):
        ready = random.randrange(2) if burst is None else 1
        values = burst or Burst(random.randrange(2), random.randrange(1 << 16), 3, 2, 1)
        fields = {
            "id": values.id, "addr": values.address, "len": values.length, "size": values.size,
            "burst": values.burst, "ready": ready, "valid": int(burst is not None or not ready),
        }  # fmt: skip
        for name, value in fields.items():
            ctx.set(getattr(bus, f"{prefix}{name}"), value)
    for prefix, done in (("r", cycle.read_done), ("b", cycle.write_done)):
        is_done = done is not None
        ctx.set(getattr(bus, f"{prefix}id"), done if is_done else random.randrange(2))
        ready = 1 if is_done else random.randrange(2)
        ctx.set(getattr(bus, f"{prefix}ready"), ready)
        # A beat of data that is not the last, or a response that waits.
        ctx.set(getattr(bus, f"{prefix}valid"), int(is_done or prefix == "r" or not ready))
    ctx.set(bus.rlast, int(cycle.read_done is not None))
