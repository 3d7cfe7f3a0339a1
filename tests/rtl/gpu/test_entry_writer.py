"""Entry writer: order, addresses, independent channels, rate and responses."""

import random

import pytest

from racetrap.golden_model.layout import Layout
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.axi import Axi4Signature
from racetrap.rtl.gpu.entry_writer import EntryWriter
from racetrap.rtl.gpu.region import index_bits
from tests.support.rtl.metadata_memory import MemoryKnobs, MetadataMemory
from tests.support.rtl.streams import put_all, random_idle, simulate

PARAMS = ScordParams(outstanding=8)
LAYOUT = Layout({"entry": 64, "index": index_bits(PARAMS)})
BASE = 0x1_0008


class _WholePort:
    """The writer's channels, and read channels that nobody drives."""

    def __init__(self, write_port):
        signature = Axi4Signature(address_bits=40, data_bits=64, id_bits=3)
        self._reads = signature.create()
        self._writes = write_port

    def __getattr__(self, name):
        return getattr(self._writes if name[0] in "awb" and name[:2] != "ar" else self._reads, name)


def run(writes, knobs, idle=None):
    """Put ``writes`` in; the memory, and (cycles, responses, errors) seen."""
    dut = EntryWriter(PARAMS)
    memory = MetadataMemory(_WholePort(dut.m_axi), knobs, str(knobs))
    seen = {"taken": [], "done": 0, "error": 0}

    async def environment(ctx):
        ctx.set(dut.i_region.metadata_base, BASE)
        cycle = 0
        while True:
            memory.drive(ctx)
            _, _, done, error, valid, ready, *values = await ctx.tick().sample(
                dut.o_done, dut.o_error, dut.i.valid, dut.i.ready, *memory.signals
            )
            memory.tick(values)
            seen["done"] += done
            seen["error"] += error
            if valid and ready:
                seen["taken"].append(cycle)
            cycle += 1

    async def finish(ctx):
        while seen["done"] < len(writes):
            await ctx.tick()

    words = [LAYOUT.pack({"entry": entry, "index": index}) for index, entry in writes]
    idle = {"idle": idle} if idle else {}
    simulate(dut, put_all(dut.i, words, **idle), finish, background=[environment])
    return memory, seen


@pytest.mark.parametrize("ready", [1.0, 0.5, 0.1])
@pytest.mark.parametrize("has_gaps", [False, True])
def test_writes_in_order(ready, has_gaps):
    """Entries repeat, so a wrong order would leave a wrong word as well."""
    rng = random.Random(f"{ready} {has_gaps}")
    top = (1 << index_bits(PARAMS)) - 1
    writes = [(rng.choice([0, 1, 77, top]), rng.getrandbits(64)) for _ in range(60)]
    knobs = MemoryKnobs(write_latency=(0, 4), ready=ready)
    memory, seen = run(writes, knobs, random_idle("gaps") if has_gaps else None)
    assert [(write.address, write.data) for write in memory.writes] == [
        (BASE + 8 * index, entry) for index, entry in writes
    ]
    assert (seen["done"], seen["error"]) == (60, 0)


def test_one_write_a_cycle():
    _, seen = run([(index, index) for index in range(50)], MemoryKnobs())
    assert seen["taken"] == list(range(seen["taken"][0], seen["taken"][0] + 50))


def test_errors_are_told():
    memory, seen = run([(index, index) for index in range(50)], MemoryKnobs(write_error=0.3))
    errors = sum(write.is_error for write in memory.writes)
    assert 0 < errors < 50
    assert seen["error"] == errors
