"""Runs a Race Detection Module beside the golden one.

Links run freely against each other and against software, so the golden model follows the order
in which the hardware took messages and requests.
"""

from __future__ import annotations

from amaranth.hdl import Value

from racetrap.golden_model.sigrace.packets import RdmStep, RdmStepKind
from racetrap.golden_model.sigrace.params import WORD_BITS, SigraceParams
from racetrap.golden_model.sigrace.rdm import Rdm as GoldenRdm
from racetrap.rtl.common.axi import AxiResponse
from racetrap.rtl.sigrace.rdm import Rdm
from racetrap.rtl.sigrace.rdm_controller import trace_ports
from racetrap.rtl.sigrace.registers import compile_registers
from tests.support.rtl.axi_lite import axil_read, axil_write
from tests.support.rtl.streams import Idle, never_idle, put_all, random_idle, shared, simulate
from tests.support.sigrace.log_words import packed_entry
from tests.support.sigrace.messages import flit_words

_REGISTERS = compile_registers(SigraceParams())
#: Address of each register.
ADDRESSES = {one.inst_name: one.absolute_address for one in _REGISTERS.registers()}


async def read(ctx, port, name: str) -> int:
    """Read a register."""
    data, response = await axil_read(ctx, port, ADDRESSES[name])
    assert response == AxiResponse.OKAY, name
    return data


async def read_field(ctx, port, name: str, field: str) -> int:
    """Read a field of a register."""
    data = await read(ctx, port, name)
    register = _REGISTERS.get_child_by_name(name)
    one = register.get_child_by_name(field)
    return data >> one.lsb & (1 << one.width) - 1


async def write(ctx, port, name: str, **fields: int) -> None:
    """Write a register; fields that are not given are 0."""
    register = _REGISTERS.get_child_by_name(name)
    data = sum(value << register.get_child_by_name(field).lsb for field, value in fields.items())
    assert await axil_write(ctx, port, ADDRESSES[name], data) == AxiResponse.OKAY, name


class _Observed(Rdm):
    """The design, with its controller and registers in sight."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        self.controller, self.registers = m.submodules.controller, m.submodules.registers
        return m


class RdmBench:
    """A Race Detection Module and its golden model.

    ``steps`` gets (cycle, step) of each step, ``checks`` the cycle in which each message is
    checked, ``events`` the order in which the golden model has to do the same things, and
    ``expected`` its steps.
    """

    def __init__(self, params: SigraceParams, seed: object = 0):
        self.params = params
        self.dut = shared(_Observed, params)
        self.model = GoldenRdm(params)
        self.seed = seed
        self.sent: list[list[tuple[int, ...]]] = [[] for _ in range(params.cores)]
        self.steps: list[tuple[int, int]] = []
        self.events: list[tuple] = []
        self.checks: list[int] = []
        self.expected: list[RdmStep] = []

    @property
    def port(self):
        """AXI4-Lite port."""
        return self.dut.s_axil

    async def send(self, ctx, core: int, flits, idle: Idle = never_idle) -> None:
        """Send a message over a link."""
        self.sent[core].append(flits)
        words = flit_words(self.params, flits)
        await put_all(self.dut.i_message[core], words, idle=idle)(ctx)

    def feeders(self, links, idle: float = 0.3) -> list:
        """Testbenches that send each link its messages; ``idle`` is the probability of a gap."""

        def feeder(core, messages):
            gaps = random_idle(f"{self.seed} link {core}", idle)

            async def testbench(ctx):
                for flits in messages:
                    await self.send(ctx, core, flits, gaps)

            return testbench

        return [feeder(core, messages) for core, messages in enumerate(links)]

    def run(self, *testbenches, finish=None, cycles: int = 200_000) -> None:
        """Run ``testbenches``, compare, read and compare all registers, then run ``finish``."""
        self._ended = 0

        async def end(ctx):
            while self._ended < len(testbenches) or not ctx.get(self.dut.o_idle):
                await ctx.tick()
            await ctx.tick()  # the observer sees a cycle only after its clock edge
            self._replay()
            await self._compare_registers(ctx)
            if finish:
                await finish(ctx)

        counted = [self._counted(one) for one in testbenches]
        simulate(self.dut, *counted, end, background=[self._observe], cycles=cycles)

    def _counted(self, testbench):
        async def counted(ctx):
            await testbench(ctx)
            self._ended += 1

        return counted

    async def _observe(self, ctx):
        dut, controller, registers = self.dut, self.dut.controller, self.dut.registers
        signals = {
            "check": controller.o_follow,
            "link": controller.o_arrival.link,
            "enable": controller.i_enable,
            "flush": controller.i_flush,
            "clear": controller.i_clear_log,
            "map": registers.map.valid.strobe,
            "core": registers.map_select.core,
            "context": registers.map_select.context,
            "thread": registers.map.thread.data,
            "valid": registers.map.valid.data,
        }
        traces = trace_ports(dut.trace)
        steps = [part for one in traces for part in (one.valid, Value.cast(one.payload))]
        cycle = 0
        flush = clear = 0
        while True:
            _, _, *values = await ctx.tick().sample(*steps, *signals.values())
            now = dict(zip(signals, values[len(steps) :], strict=True))
            for valid, payload in zip(values[: len(steps) : 2], values[1::2], strict=False):
                if valid:
                    self.steps.append((cycle, payload))
            if now["check"]:
                self.events.append(("message", now["link"], now["enable"]))
                self.checks.append(cycle)
            if now["map"]:
                thread = now["thread"] if now["valid"] else None
                self.events.append(("map", now["core"], now["context"], thread))
            # A request waits for the message that is taken in its own cycle, checked in the next.
            if flush:
                self.events.append(("flush",))
            if clear:
                self.events.append(("clear",))
            flush, clear = now["flush"], now["clear"]
            cycle += 1

    def _replay(self) -> None:
        """The golden model does the same in the same order: its steps are the hardware's."""
        waiting = [iter(of_link) for of_link in self.sent]
        expected = []
        for kind, *arguments in self.events:
            if kind == "message":
                link, self.model.enabled = arguments[0], bool(arguments[1])
                expected += self.model.message(next(waiting[link]), link)
            elif kind == "map":
                self.model.map(*arguments)
            elif kind == "flush":
                self.model.flush()
            else:
                self.model.clear_log()
        assert [next(one, None) for one in waiting] == [None] * len(waiting)
        got = self._in_order()
        for number, (one, other) in enumerate(zip(got, expected, strict=False)):
            assert one == other._asdict(), f"step {number} of seed {self.seed}: {one}, not {other}"
        assert len(got) == len(expected)
        self.expected = expected

    def _in_order(self) -> list[dict[str, int]]:
        """The hardware's steps, those of each message by thread: its scanners work at once."""
        layout = self.params.rdm_step_layout
        steps: list[dict[str, int]] = []
        message: list[dict[str, int]] = []
        for _, word in self.steps:
            step = layout.unpack(word)
            message.append(step)
            if step["kind"] != RdmStepKind.COMPARE:
                steps += [*sorted(message[:-1], key=lambda one: one["other"]), step]
                message = []
        return steps + message

    async def _compare_registers(self, ctx) -> None:
        for name, value in self.model.counters.items():
            assert await read(ctx, self.port, name.upper()) == value, name
        reasons = await read_field(ctx, self.port, "STATUS", "reasons")
        assert reasons == self.model.reasons
        gap = await read_field(ctx, self.port, "STATUS", "sequence_gap")
        assert gap == (self.model.counters["dropped_sequence"] > 0)
        for (core, context), expected in self.model.expected.items():
            await write(ctx, self.port, "MAP_SELECT", core=core, context=context)
            assert await read(ctx, self.port, "MAP_SEQUENCE") == expected
        logged = [packed_entry(self.params, entry) for entry in self.model.log]
        assert await self.read_log(ctx) == logged

    async def read_log(self, ctx) -> list[int]:
        """The conflict log, entry by entry."""
        entries = []
        for entry in range(await read(ctx, self.port, "LOG_COUNT")):
            packed = 0
            for word in range(self.params.log_words):
                await write(ctx, self.port, "LOG_SELECT", entry=entry, word=word)
                packed |= await read(ctx, self.port, "LOG_DATA") << word * WORD_BITS
            entries.append(packed)
        return entries
