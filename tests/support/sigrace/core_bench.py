"""Runs a SigRace core unit beside the golden one, on random events of its core."""

from __future__ import annotations

import random

from racetrap.golden_model.sigrace.compressor import encode
from racetrap.golden_model.sigrace.core_unit import CoreUnit as GoldenCoreUnit
from racetrap.golden_model.sigrace.packets import CoreEvent, CoreOp, CoreStep, Mode
from racetrap.golden_model.sigrace.params import WORD_BITS, SigraceParams
from racetrap.golden_model.sigrace.signature import signature_of_granules
from racetrap.rtl.sigrace.core_unit import CoreUnit
from tests.support.rtl.streams import get_forever, monitor, put_all, random_idle, shared, simulate

OP = CoreOp
#: How often each op comes; code 15 is undefined.
_WEIGHTS = {
    OP.LOAD: 40, OP.STORE: 30, OP.INSTRUCTIONS: 5, OP.COLLECT_ON: 5, OP.COLLECT_OFF: 1,
    OP.SYNC_REACHED: 2, OP.TS_WRITE: 3, OP.SWITCH_OUT: 1, OP.SWITCH_IN: 1, OP.MODE: 1,
    OP.TRT_WRITE: 1, OP.CONFLICT_WRITE: 1, OP.RESET: 0.3, 15: 0.5,
}  # fmt: skip
_ANALYSIS_AND_CT = Mode.ANALYSIS | 1 << 2


def conflict_writes(params: SigraceParams, granules) -> list[CoreEvent]:
    """Events that load the Conflict Signature of some granules."""
    signature = signature_of_granules(params, granules)
    return [
        CoreEvent(OP.CONFLICT_WRITE, signature >> word * WORD_BITS & 0xFFFF_FFFF, index=word)
        for word in range(params.signature_words)
    ]


def _random_value(params: SigraceParams, rng: random.Random, op: int) -> tuple[int, int]:
    """Index and data of an event that is no access."""
    if op == OP.MODE:
        return 0, rng.choice([rng.getrandbits(32), _ANALYSIS_AND_CT, _ANALYSIS_AND_CT])
    if op in (OP.TS_WRITE, OP.TRT_WRITE, OP.SWITCH_IN):
        index = rng.choice([rng.randrange(params.threads), rng.getrandbits(12)])
        return index, rng.choice([rng.getrandbits(32), 5, params.max_counter, 1 << 31])
    if op == OP.CONFLICT_WRITE:
        word = rng.randrange(params.signature_words + 1)
        return word, rng.getrandbits(32) | rng.getrandbits(32) | rng.getrandbits(32)
    return rng.getrandbits(12), rng.getrandbits(32)


def random_events(params: SigraceParams, rng: random.Random, count: int) -> list[CoreEvent]:
    """Events of all ops; addresses come from few places, so that sets fill and hits occur."""
    places = [rng.getrandbits(32) for _ in range(params.usb_limit + 2)] + [(1 << 32) - 8]
    few = range(max(1, params.block_instructions // 8))
    watched = conflict_writes(params, places[:2])
    events = [CoreEvent(OP.COLLECT_ON), CoreEvent(OP.MODE, _ANALYSIS_AND_CT), *watched]
    for op in rng.choices(list(_WEIGHTS), list(_WEIGHTS.values()), k=count):
        instructions = rng.choice([1, 1, 1, rng.choice(few)]) if rng.random() < 0.97 else 4095
        if op > OP.STORE:
            index, data = _random_value(params, rng, op)
            events.append(CoreEvent(op, data, 0, index, instructions))
        else:
            address = (rng.choice(places) + rng.randrange(40)) % (1 << 32)
            size = rng.choice([1, 2, 4, 4, 8, 16, rng.randint(1, 16)])
            pc = rng.getrandbits(params.pc_bits)
            events.append(CoreEvent(op, address, size, 0, instructions, pc))
        if op == OP.RESET:
            events += [CoreEvent(OP.COLLECT_ON), CoreEvent(OP.MODE, _ANALYSIS_AND_CT), *watched]
    return events


class CoreUnitBench:
    """A core unit with monitors on all streams and the trace port.

    With a seed there are random idle cycles at the input and random stalls at both outputs.
    """

    core, context = 1, 0

    def __init__(self, params: SigraceParams, seed: str | None = None):
        self.params = params
        self.dut = shared(CoreUnit, params)
        self.golden = GoldenCoreUnit(params, self.core, self.context)
        self.taken, self.flits, self.traps, self.steps = [], [], [], []
        self._idle = {
            end: {"idle": random_idle(f"{seed} {end}", 0.2)} if seed else {}
            for end in ("event", "message", "trap")
        }

    def pack(self, event: CoreEvent) -> int:
        """Bits of ``event_layout``."""
        return self.params.event_layout.pack(event._asdict())

    def run(self, events, *, cycles=100_000) -> None:
        """Play ``events``, then wait until the unit is idle and its traps are read."""

        async def testbench(ctx):
            ctx.set(self.dut.i_core, self.core)
            ctx.set(self.dut.i_context, self.context)
            words = [self.pack(event) for event in events]
            await put_all(self.dut.i_event, words, **self._idle["event"])(ctx)
            while not ctx.get(self.dut.o_idle) or ctx.get(self.dut.o_trap.valid):
                await ctx.tick()
            for _ in range(2):
                await ctx.tick()

        self.simulate(testbench, cycles=cycles)

    def simulate(self, testbench, *, drains=("message", "trap"), background=(), cycles=100_000):
        """Run ``testbench(ctx)`` with readers at the outputs named in ``drains``."""
        outputs = {"message": self.dut.o_message, "trap": self.dut.o_trap}
        simulate(
            self.dut,
            testbench,
            background=[
                *(get_forever(outputs[name], [], **self._idle[name]) for name in drains),
                monitor(self.dut.i_event, self.taken),
                monitor(self.dut.o_message, self.flits),
                monitor(self.dut.o_trap, self.traps),
                self._watch_trace,
                *background,
            ],
            cycles=cycles,
        )

    async def _watch_trace(self, ctx):
        layout, trace = self.params.core_step_layout, self.dut.trace
        cycle = 0
        while True:
            *_, valid, word = await ctx.tick().sample(trace.valid, trace.payload.as_value())
            if valid:
                step = layout.unpack(word)
                step["event"] = CoreEvent(**step["event"])
                self.steps.append((cycle, CoreStep(**step)))
            cycle += 1

    def check(self, events) -> None:
        """Steps, messages, traps and registers are the golden ones."""
        golden, params = self.golden, self.params
        expected = [golden.step(event) for event in events]
        for number, ((_, step), wanted) in enumerate(zip(self.steps, expected, strict=True)):
            assert step == wanted, f"step {number}"
        assert [word for _, word in self.flits] == self._flits_of(golden.blocks)
        traps = [trap._asdict() for trap in golden.traps]
        assert [params.trap_layout.unpack(word) for _, word in self.traps] == traps

    def golden_flits(self, events) -> list[int]:
        """Flits of a fresh golden unit that has taken ``events``."""
        golden = GoldenCoreUnit(self.params, self.core, self.context)
        for event in events:
            golden.step(event)
        return self._flits_of(golden.blocks)

    def _flits_of(self, blocks) -> list[int]:
        return [
            self.params.flit_layout.pack({"data": flit, "last": number == len(message) - 1})
            for message in (encode(self.params, block) for block in blocks)
            for number, flit in enumerate(message)
        ]
