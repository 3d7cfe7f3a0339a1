"""The whole system: core units over free-running links, the RDM, and software beside them."""

from dataclasses import replace
from random import Random

import pytest
from amaranth.hdl import Value

from racetrap.golden_model.sigrace.compressor import encode
from racetrap.golden_model.sigrace.core_unit import CoreUnit as GoldenCoreUnit
from racetrap.golden_model.sigrace.packets import CoreEvent, CoreOp, Mode, RdmStepKind
from racetrap.golden_model.sigrace.params import Form, SigraceParams
from racetrap.golden_model.sigrace.rdm import Rdm as GoldenRdm
from racetrap.rtl.sigrace.system import SigraceSystem
from tests.support.campaign import later_but
from tests.support.rtl.ready_paths import valid_to_ready_paths
from tests.support.rtl.streams import get_forever, put_all, random_idle, shared, simulate
from tests.support.sigrace.configurations import SMALL
from tests.support.sigrace.rdm_bench import read, read_field, write

CONFIGURATIONS = {
    "small": SMALL,
    "contexts": replace(SMALL, contexts=2, threads=4, history_depth=3),
    "hashed": replace(SMALL, form=Form.HASHED),
    "one": replace(SMALL, cores=1, threads=1),
}


def program(params: SigraceParams, rng: Random, thread: int, count: int) -> list[CoreEvent]:
    """What the core of a thread tells its unit: accesses of few places, synchronisation now and
    then, analysis of some addresses for a while."""
    pool = [0x1000 * place for place in range(6)]
    events = [
        CoreEvent(CoreOp.RESET),
        CoreEvent(CoreOp.SWITCH_IN, index=thread),
        CoreEvent(CoreOp.CONFLICT_WRITE, data=0xFFFF, index=0),
        CoreEvent(CoreOp.COLLECT_ON),
    ]
    clock = 0
    for _ in range(count):
        chance = rng.random()
        if chance < 0.05:
            clock += 1
            events.append(CoreEvent(CoreOp.SYNC_REACHED))
            for other in range(params.threads):
                if other != thread:
                    seen = min(max(0, clock - rng.randrange(3)), params.max_counter)
                    events.append(CoreEvent(CoreOp.TS_WRITE, seen, index=other))
        elif chance < 0.08:
            mode = rng.choice([Mode.NORMAL, Mode.ANALYSIS | 4])
            events.append(CoreEvent(CoreOp.MODE, mode))
        else:
            op = rng.choice([CoreOp.LOAD, CoreOp.STORE])
            address = rng.choice(pool) + rng.randrange(64)
            size = rng.choice([1, 4, 8, 16])
            events.append(CoreEvent(op, address, size, 0, rng.randint(1, 9), rng.getrandbits(32)))
    return [*events, CoreEvent(CoreOp.SYNC_REACHED), CoreEvent(CoreOp.SWITCH_OUT)]


class SystemBench:
    """The system, and what its golden parts say of it."""

    def __init__(self, params: SigraceParams, seed: object):
        self.params, self.seed = params, seed
        self.dut = shared(SigraceSystem, params)
        self.units = params.cores * params.contexts
        self.core_steps = [[] for _ in range(self.units)]
        self.rdm_steps = []
        self.traps = [[] for _ in range(self.units)]

    def run(self, programs, finish):
        """Start, let all units take their events, wait until all is still, ``finish(ctx)``."""
        dut, params = self.dut, self.params
        layout = params.event_layout
        ended = 0

        def core(unit):
            words = [layout.pack(event._asdict()) for event in programs[unit]]
            idle = random_idle(f"{self.seed} core {unit}", 0.2)

            async def testbench(ctx):
                nonlocal ended
                while not started:
                    await ctx.tick()
                await put_all(dut.i_event[unit], words, idle=idle)(ctx)
                ended += 1

            return testbench

        started = []

        async def software(ctx):
            for unit in range(self.units):
                place = divmod(unit, params.contexts)
                await write(ctx, dut.s_axil, "MAP_SELECT", core=place[0], context=place[1])
                await write(ctx, dut.s_axil, "MAP", thread=unit, valid=1)
            await write(ctx, dut.s_axil, "CONTROL", enable=1, irq_enable=1)
            started.append(True)
            while ended < self.units or not ctx.get(dut.o_idle):
                await ctx.tick()
            await ctx.tick()
            await finish(ctx)

        traps = [
            get_forever(port, into, idle=random_idle(f"{self.seed} trap {unit}", 0.5))
            for unit, (port, into) in enumerate(zip(dut.o_trap, self.traps, strict=True))
        ]
        cores = [core(unit) for unit in range(self.units)]
        simulate(dut, software, *cores, background=[self._observe, *traps])

    async def _observe(self, ctx):
        ports = [*self.dut.trace_core, self.dut.trace_rdm]
        into = [*self.core_steps, self.rdm_steps]
        signals = [part for port in ports for part in (port.valid, Value.cast(port.payload))]
        while True:
            _, _, *values = await ctx.tick().sample(*signals)
            for number, steps in enumerate(into):
                if values[2 * number]:
                    steps.append(values[2 * number + 1])

    def check(self, programs) -> GoldenRdm:
        """Every step, trap and comparison is the golden one's; gives the golden RDM."""
        params = self.params
        blocks = []
        for unit, events in enumerate(programs):
            model = GoldenCoreUnit(params, *divmod(unit, params.contexts))
            expected = [model.step(event) for event in events]
            got = [params.core_step_layout.unpack(step) for step in self.core_steps[unit]]
            assert got == [step._asdict() | {"event": step.event._asdict()} for step in expected]
            got = [params.trap_layout.unpack(trap) for trap in self.traps[unit]]
            assert got == [trap._asdict() for trap in model.traps]
            blocks.append(iter(model.blocks))
        rdm = GoldenRdm(params)
        for unit in range(self.units):
            rdm.map(*divmod(unit, params.contexts), unit)
        group = []
        for step in map(params.rdm_step_layout.unpack, self.rdm_steps):
            group.append(step)
            if step["kind"] != RdmStepKind.COMPARE:
                block = next(blocks[step["core"] * params.contexts + step["context"]])
                expected = rdm.message(encode(params, block), step["core"])
                assert group == [one._asdict() for one in expected], f"seed {self.seed}"
                group = []
        assert group == []
        assert [next(rest, None) for rest in blocks] == [None] * self.units
        return rdm


# Each core of the one with contexts has all that a core of the small one has.
@pytest.mark.parametrize("name", later_but(("contexts", "hashed").__contains__, CONFIGURATIONS))
def test_programs(name):
    params = CONFIGURATIONS[name]
    rng = Random(f"system {name}")
    bench = SystemBench(params, name)
    programs = [program(params, rng, unit, 150) for unit in range(bench.units)]
    seen = {}

    async def finish(ctx):
        for register in ("MESSAGES", "COMPARISONS", "CONFLICTS", "LOG_COUNT"):
            seen[register] = await read(ctx, bench.dut.s_axil, register)
        seen["reasons"] = await read_field(ctx, bench.dut.s_axil, "STATUS", "reasons")
        seen["irq"] = ctx.get(bench.dut.irq)

    bench.run(programs, finish)
    model = bench.check(programs)
    assert seen == {
        "MESSAGES": model.counters["messages"],
        "COMPARISONS": model.counters["comparisons"],
        "CONFLICTS": model.counters["conflicts"],
        "LOG_COUNT": len(model.log),
        "reasons": model.reasons,
        "irq": model.reasons != 0,
    }
    assert seen["MESSAGES"] > 5
    assert (seen["CONFLICTS"] > 0) == (params.threads > 1)


def test_saturated_counters_are_told():
    params = replace(SMALL, timestamp_bits=2)
    bench = SystemBench(params, "saturated")
    programs = [[CoreEvent(CoreOp.SYNC_REACHED)] * (3 * unit) for unit in range(bench.units)]

    async def finish(ctx):
        assert await read_field(ctx, bench.dut.s_axil, "STATUS", "saturated") == 1

    bench.run(programs, finish)
    bench.check(programs)


@pytest.mark.parametrize("name", later_but(lambda name: name == "hashed", CONFIGURATIONS))
def test_no_path_from_valid_to_ready(name):
    assert valid_to_ready_paths(SigraceSystem(CONFIGURATIONS[name])) == []
