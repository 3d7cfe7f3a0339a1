"""cocotb test of corner cases that random events seldom reach.

Plan: ``trap_stall``.
"""

from __future__ import annotations

from collections.abc import Iterator

import cocotb

from racetrap.golden_model.sigrace.environment import OWN, Command, CoreCommand, Remap
from racetrap.golden_model.sigrace.packets import CoreEvent, CoreOp, Mode
from racetrap.golden_model.sigrace.params import ADDRESS_BITS, WORD_BITS
from racetrap.golden_model.sigrace.signature import signature_of_granules
from racetrap.golden_model.trace.threads.events import GRANULE_BYTES
from racetrap.tb.base_test import run_test
from racetrap.tb.sigrace.sigrace_test import SigraceTest

_PLACE = 0, 0
_WIDEST = 16


class _Corners(SigraceTest):
    async def body(self) -> None:
        environment = self.environment
        await environment.control()
        for scenario in (
            self._addresses, self._sets, self._discarded, self._limit, self._traps, self._modes,
            self._indices, self._saturation_by_write, self._saturation_by_sync,
        ):  # fmt: skip
            await self.play(self._begin())
            await self.play(CoreCommand(*_PLACE, event, OWN) for event in scenario())
            await environment.finish()
            await environment.request("flush", "clear_log")

    def _begin(self) -> Iterator[Command]:
        """The first thread starts on the first context."""
        yield CoreCommand(*_PLACE, CoreEvent(CoreOp.RESET), OWN)
        yield Remap(*_PLACE, 0)
        yield CoreCommand(*_PLACE, CoreEvent(CoreOp.SWITCH_IN), OWN)
        yield CoreCommand(*_PLACE, CoreEvent(CoreOp.COLLECT_ON), OWN)

    def _addresses(self) -> Iterator[CoreEvent]:
        """Accesses over the end of the address space, and of every width and alignment."""
        yield CoreEvent(CoreOp.STORE, data=(1 << ADDRESS_BITS) - 2, size=8, instructions=1)
        for size in range(1, _WIDEST + 1):
            for offset in range(GRANULE_BYTES):
                op = CoreOp.LOAD if size % 2 else CoreOp.STORE
                yield CoreEvent(op, data=64 * size + offset, size=size)
        yield CoreEvent(CoreOp.SYNC_REACHED)

    def _sets(self) -> Iterator[CoreEvent]:
        """A set of USB values that is full when an access begins, and in the middle of one."""
        params = self.testbench.params
        page = 1 << params.lsb_bits
        for op in (CoreOp.LOAD, CoreOp.STORE):
            for number in range(params.usb_limit + 1):
                yield CoreEvent(op, data=number * page, size=4)
            # One more value is in the set; the access begins in it and continues beyond it.
            for number in range(params.usb_limit - 1):
                yield CoreEvent(op, data=number * page, size=4)
            yield CoreEvent(op, data=(params.usb_limit + 1) * page - 4, size=8)
        yield CoreEvent(CoreOp.SWITCH_OUT)

    def _discarded(self) -> Iterator[CoreEvent]:
        """A RESET discards a block; then blocks without any address end."""
        yield CoreEvent(CoreOp.STORE, data=4, size=4, instructions=3)
        yield CoreEvent(CoreOp.RESET)
        yield CoreEvent(CoreOp.COLLECT_ON)
        yield CoreEvent(CoreOp.SYNC_REACHED)
        yield CoreEvent(CoreOp.SWITCH_OUT)

    def _limit(self) -> Iterator[CoreEvent]:
        """The counter one below, at, and far beyond the limit; control ops end no block."""
        most = self.testbench.params.block_instructions
        yield CoreEvent(CoreOp.LOAD, data=4, size=4, instructions=most - 1)
        yield CoreEvent(CoreOp.INSTRUCTIONS, instructions=1)
        yield CoreEvent(CoreOp.STORE, data=4, size=4, instructions=most)
        yield CoreEvent(CoreOp.INSTRUCTIONS, instructions=4095)
        yield CoreEvent(CoreOp.LOAD, data=8, size=4, instructions=4095)
        yield CoreEvent(CoreOp.COLLECT_ON, instructions=most)
        yield CoreEvent(CoreOp.TS_WRITE, data=1, instructions=most)
        yield CoreEvent(CoreOp.LOAD, data=12, size=4)

    def _traps(self) -> Iterator[CoreEvent]:
        """More records than fit, from accesses of several granules."""
        granules = list(range(0, 64, GRANULE_BYTES))
        signature = signature_of_granules(self.testbench.params, granules)
        for word in range(self.testbench.params.signature_words):
            data = signature >> word * WORD_BITS & (1 << WORD_BITS) - 1
            yield CoreEvent(CoreOp.CONFLICT_WRITE, data=data, index=word)
        yield CoreEvent(CoreOp.MODE, data=Mode.ANALYSIS | 1 << 2)
        for number in range(8):
            yield CoreEvent(CoreOp.LOAD + number % 2, data=number * 4 + 1, size=16, pc=number)
            yield CoreEvent(CoreOp.LOAD + number % 2, data=0x55AA_0000 + number * 1024, size=4)
        yield CoreEvent(CoreOp.MODE, data=Mode.ANALYSIS)
        yield CoreEvent(CoreOp.LOAD, data=0, size=4)

    def _modes(self) -> Iterator[CoreEvent]:
        for data in range(8):
            yield CoreEvent(CoreOp.MODE, data=data)
            yield CoreEvent(CoreOp.STORE, data=0, size=4)
        yield CoreEvent(15)

    def _indices(self) -> Iterator[CoreEvent]:
        """The first index that does not exist, and the largest."""
        params = self.testbench.params
        for op in (CoreOp.TS_WRITE, CoreOp.TRT_WRITE, CoreOp.SWITCH_IN):
            for index in (params.threads, 4095):
                yield CoreEvent(op, data=0xFFFF_FFFF, index=index)
        yield CoreEvent(CoreOp.CONFLICT_WRITE, data=0xFFFF_FFFF, index=params.signature_words)

    def _saturation_by_write(self) -> Iterator[CoreEvent]:
        params = self.testbench.params
        yield CoreEvent(CoreOp.TS_WRITE, data=params.max_counter - 1, index=params.threads - 1)
        yield CoreEvent(CoreOp.TS_WRITE, data=params.max_counter, index=params.threads - 1)

    def _saturation_by_sync(self) -> Iterator[CoreEvent]:
        """To the largest value, and once more."""
        yield CoreEvent(CoreOp.TS_WRITE, data=self.testbench.params.max_counter - 2)
        for _ in range(4):
            yield CoreEvent(CoreOp.STORE, data=4, size=4)
            yield CoreEvent(CoreOp.SYNC_REACHED)


@cocotb.test()
async def corners(dut):
    await run_test(dut, _Corners)
