"""Functional coverage of SigRace, observing a scoreboard.

Bins of port events, which only a testbench can see, are hit by name.
"""

from __future__ import annotations

from collections.abc import Sequence

from racetrap.golden_model.sigrace.block import FinishedBlock
from racetrap.golden_model.sigrace.conflict_log import Reason
from racetrap.golden_model.sigrace.core_unit import CoreUnit
from racetrap.golden_model.sigrace.environment import Remap, Slot
from racetrap.golden_model.sigrace.packets import (
    Cause,
    CoreEvent,
    CoreOp,
    CoreStep,
    Drop,
    LogEntry,
    Mode,
    RdmStep,
    RdmStepKind,
    Relation,
    Trap,
)
from racetrap.golden_model.sigrace.params import ADDRESS_BITS, Form, SigraceParams
from racetrap.golden_model.trace.threads.events import GRANULE_LOG2
from racetrap.sim.cosim.comparison.coverage import BinCounts
from racetrap.sim.cosim.sigrace.coverage_bins import BINS, CONFLICTS, PLACES, UNREACHABLE

_OPS = {int(op): f"op.{op.name.lower()}" for op in CoreOp}
_CAUSES = {int(cause): cause.name.lower() for cause in Cause}
_MODES = {int(mode): mode.name.lower() for mode in Mode}
_DROPS = {int(drop): f"drop.{drop.name.lower()}" for drop in Drop}
_RELATIONS = {int(one): one.name.lower() for one in Relation}
_BEGIN = CoreStep(CoreEvent(int(CoreOp.RESET)), *[0] * 10)


class Coverage(BinCounts):
    """Counts of every bin; an observer of ``racetrap.sim.cosim.sigrace.scoreboard.Scoreboard``.

    Parameters
    ----------
    params : SigraceParams
        Configuration of the device.
    """

    def __init__(self, params: SigraceParams):
        super().__init__(BINS, UNREACHABLE)
        self._params = params
        self._before: dict[Slot, CoreStep] = {}
        self._threads: dict[Slot, int] = {}  # thread last on a context
        self._contexts: dict[int, int] = {}  # context of a core that sent last
        self._places: dict[int, Slot] = {}  # last context of a thread
        self._configuration()

    def _configuration(self) -> None:
        params, hit = self._params, self.hit
        units = params.cores * params.contexts
        hit(f"config.form.{params.form.value}")
        hit(f"config.lsb.{'one_hot' if params.one_hot_lsb else 'h3'}")
        hit(f"config.cores.{'one' if params.cores == 1 else 'several'}")
        hit(f"config.contexts.{'one' if params.contexts == 1 else 'several'}")
        depth = "one_entry" if params.history_depth == 1 else "several_entries"
        hit(f"config.queue.{depth}")
        if params.threads == units:
            hit("config.threads.as_contexts")
        else:
            word = "more" if params.threads > units else "fewer"
            hit(f"config.threads.{word}_than_contexts")

    # Core units ---------------------------------------------------------------------------

    def core_step(self, unit: CoreUnit, step: CoreStep) -> None:
        """An event was taken; the golden unit is in the state after it."""
        place = unit.core, unit.context
        before = self._before.get(place, _BEGIN)
        self._before[place] = step
        event, counts = step.event, self.counts
        counts[_OPS.get(event.op, "op.undefined")] += 1
        if event.op <= CoreOp.STORE:
            self._access(unit, event, step)
        else:
            self._control(before, event, step)
        if step.cause:
            self._end(before, event, step)

    def _access(self, unit: CoreUnit, event: CoreEvent, step: CoreStep) -> None:
        counts, word = self.counts, "store" if event.op else "load"
        if not step.collecting:
            counts[f"access.off.{word}"] += 1
            return
        first, last = event.data >> GRANULE_LOG2, event.data + event.size - 1 >> GRANULE_LOG2
        counts[f"access.collected.{word}"] += 1
        counts[f"access.granules.{last - first + 1}"] += 1
        if event.data % (1 << GRANULE_LOG2):
            counts["access.unaligned"] += 1
        if last >> ADDRESS_BITS - GRANULE_LOG2:
            counts["access.wraps"] += 1
        if unit.mode == Mode.ANALYSIS and unit.is_conflicting:
            counts[f"watch.{'hit' if step.traps else 'miss'}.{word}"] += 1
        if step.traps > 1:
            counts["trap.several_of_an_access"] += 1

    def _control(self, before: CoreStep, event: CoreEvent, step: CoreStep) -> None:
        """An op other than an access."""
        params, op = self._params, event.op
        if op == CoreOp.SYNC_REACHED:
            outcome = "increment"
            if step.own == params.max_counter:
                outcome = "stays_saturated" if before.own == step.own else "saturates_by_sync"
            self.hit(f"timestamp.{outcome}")
        elif op == CoreOp.MODE:
            mode = _MODES.get(event.data & 3, "undefined")
            self.hit(f"mode.{mode}.{'conflicting' if event.data >> 2 & 1 else 'free'}")
        elif op == CoreOp.RESET and (before.read_values or before.write_values):
            self.hit("block.discarded")
        elif op == CoreOp.CONFLICT_WRITE and event.index >= params.signature_words:
            self.hit("index.out_of_range.conflict_write")
        elif op in (CoreOp.TS_WRITE, CoreOp.SWITCH_IN, CoreOp.TRT_WRITE):
            if event.index >= params.threads:
                self.hit(f"index.out_of_range.{CoreOp(op).name.lower()}")
            elif op == CoreOp.TS_WRITE:
                is_most = event.data & params.max_counter == params.max_counter
                self.hit(f"timestamp.{'saturates_by_write' if is_most else 'write'}")

    def _end(self, before: CoreStep, event: CoreEvent, step: CoreStep) -> None:
        """An event that has ended a block."""
        params, cause = self._params, _CAUSES[step.cause]
        self.hit(f"block.{cause}.{'sent' if step.sent else 'empty'}")
        if step.cause == Cause.LIMIT:
            count = before.counter + event.instructions
            word = "reached" if count == params.block_instructions else "passed"
            self.hit(f"block.limit.{word}")
        elif step.cause == Cause.FULL:
            end = (event.data + event.size - 1) % (1 << ADDRESS_BITS)
            crosses = event.data >> params.lsb_bits != end >> params.lsb_bits
            # Both USB values would be in the new block if its first granule had not fitted.
            values = step.write_values if event.op == CoreOp.STORE else step.read_values
            self.hit(f"block.full.{'mid_access' if crosses and values == 1 else 'first_granule'}")

    def block(self, block: FinishedBlock) -> None:
        """A block is sent."""
        params, read, write = self._params, block.read, block.write
        if params.form is Form.SETS:
            sizes = [len(one.usb) for one in (read, write)]  # type: ignore[union-attr]
            if params.usb_limit in sizes:
                self.counts["block.usb_limit"] += 1
            has_read, has_write = map(bool, sizes)
        else:
            has_read, has_write = bool(read), bool(write)
        both = "reads_and_writes" if has_read and has_write else "reads" if has_read else "writes"
        self.counts[f"block.{both}"] += 1
        if block.sequence == (1 << params.sequence_bits) - 1:
            self.counts["sequence.wraps"] += 1

    def trap(self, unit: CoreUnit, trap: Trap) -> None:
        """A trap record was taken; its cause has been counted with its step."""

    # Race Detection Module ----------------------------------------------------------------

    def remap(self, remap: Remap, under_way: int) -> None:
        """A change of CoreToThread, and the context's messages that are still in flight."""
        place, thread = (remap.core, remap.context), remap.thread
        self.hit(f"remap.{'under_way' if under_way else 'nothing_under_way'}")
        if thread is None:
            self.hit("remap.thread_leaves")
            return
        self.hit("remap.thread_comes")
        if self._places.get(thread, place) != place:
            self.hit("remap.thread_moves")
        if self._threads.get(place, thread) != thread:
            self.hit("remap.turns_taken")
        self._places[thread], self._threads[place] = place, thread

    def message(self, steps: Sequence[RdmStep], entries: Sequence[int]) -> None:
        """Steps of a message, and the entries that each thread's queue had before it."""
        counts, last = self.counts, steps[-1]
        if last.kind == RdmStepKind.DROP:
            counts[_DROPS[last.drop]] += 1
            return
        if self._contexts.get(last.core, last.context) != last.context:
            counts["link.shared"] += 1
        self._contexts[last.core] = last.context
        counts[f"push.{_CAUSES[last.cause]}"] += 1
        depth = self._params.history_depth
        if entries[last.thread] == depth:
            counts["queue.overflow"] += 1
        for thread, count in enumerate(entries):
            if thread != last.thread:
                state = "full" if count == depth else "partly_full" if count else "empty"
                counts[f"queue.{state}"] += 1
        if last.lost:
            counts[f"queue.lost.{'one' if last.lost.bit_count() == 1 else 'several'}"] += 1
        for step in steps[:-1]:
            self._comparison(step, entries[step.other])

    def _comparison(self, step: RdmStep, count: int) -> None:
        counts = self.counts
        if step.position == 0:
            place = PLACES[0]
        else:
            place = PLACES[2] if step.position == count - 1 else PLACES[1]
        counts[f"relation.{_RELATIONS[step.relation]}.{place}"] += 1
        if step.relation == Relation.UNORDERED:
            counts[f"conflict.{CONFLICTS[step.conflict]}"] += 1
        elif step.relation == Relation.PRECEDES and count == self._params.history_depth:
            counts["queue.full_with_predecessor"] += 1

    def finished(self, log: Sequence[LogEntry], reasons: int) -> None:
        """Conflict log and rollback request at the end of a run that was compared in full."""
        state = "full" if len(log) == self._params.log_depth else "partly_full" if log else "empty"
        self.hit(f"log.{state}")
        for reason in Reason:
            if reasons & reason:
                self.hit(f"rollback.{reason.name.lower()}")  # type: ignore[union-attr]
        if not reasons:
            self.hit("rollback.none")
