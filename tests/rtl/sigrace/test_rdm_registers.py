"""Registers of the Race Detection Module: every access, right and wrong."""

from dataclasses import replace
from random import Random

from racetrap.golden_model.sigrace.packets import Cause
from racetrap.rtl.common.axi import AxiResponse
from racetrap.rtl.common.register_description import version_fields
from racetrap.rtl.sigrace.registers import compile_registers
from tests.support.rtl.axi_lite import axil_read, axil_write
from tests.support.sigrace.configurations import SMALL
from tests.support.sigrace.messages import random_message, random_set
from tests.support.sigrace.rdm_bench import ADDRESSES, RdmBench, read, read_field, write

PARAMS = replace(SMALL, contexts=2, log_depth=3, sequence_bits=3)
REGISTERS = {one.inst_name: one for one in compile_registers(PARAMS).registers()}


def run(software, params=PARAMS):
    bench = RdmBench(params)
    bench.run(lambda ctx: software(ctx, bench.port, bench))
    return bench


def test_constants():
    async def software(ctx, port, bench):
        assert await read(ctx, port, "ID") == int.from_bytes(b"SigR", "big")
        for field, value in version_fields().items():
            assert await read_field(ctx, port, "VERSION", field) == value
        for name, fields in {
            "PARAMS_GEOMETRY": ("cores", "contexts", "threads", "history_depth"),
            "PARAMS_SIGNATURE": ("lsb_bits", "filters", "filter_bits", "one_hot_lsb"),
            "PARAMS_BLOCK": ("block_instructions",),
            "PARAMS_WIDTHS": ("timestamp_bits", "sequence_bits", "pc_bits", "log_depth"),
        }.items():
            for field in fields:
                assert await read_field(ctx, port, name, field) == getattr(PARAMS, field)
        assert await read_field(ctx, port, "PARAMS_SIGNATURE", "is_hashed") == 0

    run(software)


def test_misuse_is_answered_and_changes_nothing():
    read_only = [name for name, one in REGISTERS.items() if not one.has_sw_writable]
    nowhere = sorted({*range(0, 0x200, 4), 0xFFC} - set(ADDRESSES.values()))

    async def software(ctx, port, bench):
        before = {name: await read(ctx, port, name) for name in REGISTERS}
        for address in [*nowhere, *(ADDRESSES[name] for name in read_only)]:
            assert await axil_write(ctx, port, address, 0xFFFF_FFFF) == AxiResponse.SLVERR
        for address in nowhere:
            assert await axil_read(ctx, port, address) == (0, AxiResponse.SLVERR)
        assert {name: await read(ctx, port, name) for name in REGISTERS} == before

    run(software)


def test_map_holds_a_thread_for_each_context():
    places = [(core, context) for core in range(PARAMS.cores) for context in range(PARAMS.contexts)]

    async def software(ctx, port, bench):
        async def select(core, context):
            await write(ctx, port, "MAP_SELECT", core=core, context=context)

        for number, place in enumerate(places):
            await select(*place)
            assert await read(ctx, port, "MAP") == 0
            await write(ctx, port, "MAP", thread=0xA0 + number, valid=1)
        # Contexts that do not exist read as 0; writing them changes none that does.
        for place in ((PARAMS.cores, 0), (0, PARAMS.contexts), (255, 15)):
            await select(*place)
            await write(ctx, port, "MAP", thread=7, valid=1)
            assert await read(ctx, port, "MAP") == 0
            assert await read(ctx, port, "MAP_SEQUENCE") == 0
        for number, place in enumerate(places):
            await select(*place)
            assert await read(ctx, port, "MAP") == 0x1A0 + number
            # Without the byte that has `valid` only the thread changes.
            assert await axil_write(ctx, port, ADDRESSES["MAP"], 5, strobe=1) == AxiResponse.OKAY
            assert await read(ctx, port, "MAP") == 0x105

    run(software)


def conflicting(bench, rng, sequence):
    """Messages of two threads that never synchronise and write to the same address."""
    params = bench.params
    same = random_set(params, Random("conflict"), 3)
    return [
        random_message(
            params, rng, core=core, context=0, thread=core, sequence=number, cause=int(Cause.LIMIT),
            timestamp=(1,) * params.threads, read=same, write=same,
        )
        for number in sequence for core in (0, 1)
    ]  # fmt: skip


async def still(ctx, bench):
    while not ctx.get(bench.dut.o_idle):
        await ctx.tick()


async def begin(ctx, bench, **control):
    for core in (0, 1):
        await write(ctx, bench.port, "MAP_SELECT", core=core, context=0)
        await write(ctx, bench.port, "MAP", thread=core, valid=1)
    await write(ctx, bench.port, "CONTROL", enable=1, **control)


async def send(ctx, bench, messages):
    for number, flits in enumerate(messages):
        await bench.send(ctx, number % 2, flits)
        await still(ctx, bench)


def test_request_log_and_their_clearing():
    rng = Random("log")

    async def software(ctx, port, bench):
        await begin(ctx, bench, irq_enable=1)
        assert await read_field(ctx, port, "STATUS", "idle") == 1
        await send(ctx, bench, conflicting(bench, rng, [0]))
        assert await read(ctx, port, "LOG_COUNT") == 1
        await send(ctx, bench, conflicting(bench, rng, [1, 2]))
        assert await read_field(ctx, port, "STATUS", "reasons") == 0b011
        assert ctx.get(bench.dut.irq) == 1
        await write(ctx, port, "CONTROL", enable=1)
        await ctx.tick()
        assert ctx.get(bench.dut.irq) == 0
        # Beyond the log and beyond an entry there is nothing.
        count, words = await read(ctx, port, "LOG_COUNT"), bench.params.log_words
        for entry, word in ((count, 0), (0, words), (0xFFFF, 0), (0, 0xFFFF)):
            await write(ctx, port, "LOG_SELECT", entry=entry, word=word)
            assert await read(ctx, port, "LOG_DATA") == 0
        await write(ctx, port, "LOG_SELECT", entry=count - 1, word=0)
        assert await read(ctx, port, "LOG_DATA") != 0
        await write(ctx, port, "CONTROL", enable=1, irq_enable=1, clear_log=1)
        await still(ctx, bench)
        assert await read(ctx, port, "LOG_COUNT") == 0
        assert await read_field(ctx, port, "STATUS", "reasons") == 0
        await send(ctx, bench, conflicting(bench, rng, [3]))
        await write(ctx, port, "CONTROL", enable=1, flush=1)
        await still(ctx, bench)
        await send(ctx, bench, conflicting(bench, rng, [4])[:1])

    bench = run(software)
    # After the flush the last message found no block to compare with.
    assert [step.kind for step in bench.expected][-2:] == [1, 1]


def test_counters_and_gap_are_cleared():
    rng = Random("gap")

    async def software(ctx, port, bench):
        await begin(ctx, bench)
        await send(ctx, bench, conflicting(bench, rng, [3]))
        assert await read_field(ctx, port, "STATUS", "sequence_gap") == 1
        assert await read(ctx, port, "DROPPED_SEQUENCE") == 2
        await write(ctx, port, "CONTROL", enable=1, clear_counters=1)
        assert await read_field(ctx, port, "STATUS", "sequence_gap") == 0
        for name, register in REGISTERS.items():
            if any(field.get_property("counter") for field in register.fields()):
                assert await read(ctx, port, name) == 0
        bench.model.counters["dropped_sequence"] = -2  # they are counted anew
        await write(ctx, port, "MAP_SELECT", core=1, context=0)
        assert await read(ctx, port, "MAP_SEQUENCE") == 4

    run(software)


def test_stalls_are_counted():
    """While the RDM works on other messages, a link fills up and waits."""
    rng = Random("stalls")
    bench = RdmBench(replace(PARAMS, link_depth=2))
    waited = []

    async def software(ctx):
        await begin(ctx, bench)

    async def watch(ctx):
        for flits in conflicting(bench, rng, range(6))[::2]:
            await bench.send(ctx, 0, flits)

    async def finish(ctx):
        waited.append(await read(ctx, bench.port, "STALL_CYCLES"))

    bench.run(software, watch, finish=finish)
    assert waited[0] > 10
