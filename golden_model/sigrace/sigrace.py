"""SigRace over a recorded program: from its events to races confirmed by Analysis.

Ref: SigRace (ISCA'09) Sections 3 and 4, Fig. 2, 3 and 5.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from racetrap.golden_model.checks import check_integer, unknown_name
from racetrap.golden_model.happens_before.epoch_index import EpochIndex
from racetrap.golden_model.sigrace.address_ring import MAX_RING_DEPTH, AddressRing
from racetrap.golden_model.sigrace.checkpoint import Checkpoint
from racetrap.golden_model.sigrace.compressor import encode
from racetrap.golden_model.sigrace.confirmation import Confirmation
from racetrap.golden_model.sigrace.conflict_log import Reason, RollbackWhen
from racetrap.golden_model.sigrace.core_unit import CoreUnit
from racetrap.golden_model.sigrace.environment import OWN, Command, CoreCommand, Environment
from racetrap.golden_model.sigrace.listener import Listener
from racetrap.golden_model.sigrace.packets import CoreEvent, CoreOp, RdmStepKind, Relation
from racetrap.golden_model.sigrace.params import FLIT_BITS, SigraceParams
from racetrap.golden_model.sigrace.playback import play
from racetrap.golden_model.sigrace.rdm import Rdm
from racetrap.golden_model.sigrace.result import SigraceResult, SigraceStatistics
from racetrap.golden_model.sigrace.rollback import Rollback
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace

#: Minutes in the golden model; blocks end by instructions, whatever the accesses are.
MOST_INSTRUCTIONS = 1_000_000_000

_FLIT_BYTES = FLIT_BITS // 8
_SYNC_REACHED = int(CoreOp.SYNC_REACHED)
_TS_WRITE = int(CoreOp.TS_WRITE)
_SWITCH_OUT = CoreEvent(CoreOp.SWITCH_OUT)
_MAX_INTERVAL = (1 << 63) - 1
#: Causes of a rollback; the first that holds counts.
_REASONS = {Reason.FULL: "full", Reason.BLOCKS: "blocks", Reason.SYNC: "sync"}
_HIT = (int(RdmStepKind.COMPARE), int(Relation.PRECEDES))


class Sigrace:
    """Core units, RDM and the software that takes checkpoints and analyses conflicts.

    A program runs in Normal mode.  When the RDM requests it, when a checkpoint is due and at the
    program's end, the logged conflicts are analysed over the recorded program.

    With unlimited queues and without a checkpoint in between it finds every race between collected
    plain accesses; and every report is a race.

    Parameters
    ----------
    params : SigraceParams
        Configuration.
    environment : Environment
        Mapping of threads to contexts (Section 4.3).
    checkpoint_interval : int
        Instructions committed by one thread from one checkpoint to the next.
    unbounded : bool
        Ideal SigRace: queues and conflict log without limit.
    instruction_limit : int
        Maximum instructions of a program: cores count each of them.
    rollback_when : RollbackWhen or str
        When software answers a request for a rollback.
    ring_depth : int
        Entries of the address ring of each core unit, with which conflicts are confirmed before a
        rollback, and the RDM waits for a full log; 0: there are no rings, every conflict is
        analysed, and conflicts that find the log full are dropped.

    Raises
    ------
    TypeError, ValueError
        If the interval or the depth is no integer or out of range, or ``rollback_when`` unknown.
    """

    def __init__(
        self,
        params: SigraceParams,
        environment: Environment = Environment("fixed"),  # noqa: B008
        checkpoint_interval: int = 1_000_000,
        unbounded: bool = False,
        instruction_limit: int = MOST_INSTRUCTIONS,
        rollback_when: RollbackWhen | str = RollbackWhen.BLOCKS,
        ring_depth: int = 0,
    ) -> None:
        check_integer("Checkpoint interval", checkpoint_interval, 1, _MAX_INTERVAL)
        check_integer("Ring depth", ring_depth, 0, MAX_RING_DEPTH)
        if rollback_when not in tuple(RollbackWhen):
            raise ValueError(unknown_name("value of rollback_when", rollback_when, RollbackWhen))
        self.params = params
        self.environment = environment
        self.checkpoint_interval = checkpoint_interval
        self.unbounded = unbounded
        self.instruction_limit = instruction_limit
        self.rollback_when = RollbackWhen(rollback_when)
        #: Reasons of a request that are answered.
        self.answered = self.rollback_when.reasons
        self.ring_depth = ring_depth

    def run(self, trace: ThreadTrace, listener: Listener | None = None) -> SigraceResult:
        """Races of a recorded program.

        Parameters
        ----------
        trace : ThreadTrace
            The program.
        listener : Listener or None
            Receives all inputs of the hardware.

        Raises
        ------
        ValueError
            If the trace needs more threads, contexts or longer counters than there are, or has
            more instructions than the limit.
        """
        self.check_program(trace)
        params = self.params
        commands = play(trace, params, self.environment)
        index = EpochIndex(trace)
        params.check_epochs(index.last_epoch())
        machine = _Machine(self, index, listener)
        machine.run(commands)
        return machine.result()

    def check_program(self, trace: ThreadTrace) -> None:
        """Raise ``ValueError`` if a program has too many instructions or threads."""
        instructions = int(trace.events["instructions"].sum(dtype=np.uint64))
        if instructions > self.instruction_limit:
            raise ValueError(
                f"Trace has {instructions} instructions, more than the limit of "
                f"{self.instruction_limit}: raise it by --set instruction_limit=N"
            )
        self.environment.check_threads(trace.header.threads, self.params)


def _ring(sigrace: Sigrace) -> AddressRing:
    """Address ring of a core unit: sequence numbers tell its blocks apart."""
    return AddressRing(sigrace.ring_depth, 1 << sigrace.params.sequence_bits)


class _Machine:
    """The hardware in Normal mode, and the state of its software."""

    def __init__(self, sigrace: Sigrace, index: EpochIndex, listener: Listener | None) -> None:
        params = self._params = sigrace.params
        places = [
            (core, number) for core in range(params.cores) for number in range(params.contexts)
        ]
        rings = {place: _ring(sigrace) for place in places} if sigrace.ring_depth else {}
        self._confirmation = Confirmation(rings) if rings else None
        self._units = {place: CoreUnit(params, *place, rings.get(place)) for place in places}
        self._rdm = Rdm(params, sigrace.unbounded, self._empty_log if rings else None)
        self._answered = sigrace.answered
        self._statistics = SigraceStatistics()
        self._checkpoint = Checkpoint(params.threads, sigrace.checkpoint_interval)
        unit = CoreUnit(params)
        self._rollback = Rollback(
            params, index, self._checkpoint, self._statistics,
            listener.analysis_unit if listener else lambda: unit, self._confirmation,
        )  # fmt: skip
        self._listener = listener
        self._progress = [-1] * params.threads

    def run(self, commands: Iterable[Command]) -> None:
        """Run a whole program."""
        units, progress, checkpoint = self._units, self._progress, self._checkpoint
        committed, interval = checkpoint.committed, checkpoint.interval
        listener = self._listener
        is_due, last = False, -1
        for command in commands:
            if not isinstance(command, CoreCommand):
                if listener is not None:
                    listener.command(command)
                self._rdm.map(*command)
                continue
            core, context, event, number = command
            unit = units[core, context]
            if is_due and number not in (last, -1):
                # Between events of the program: library code is not interrupted.
                self._take_checkpoint()
                is_due = False
            if listener is not None:
                listener.command(command)
            unit.take(event)
            if number >= 0:
                thread = unit.thread
                progress[thread] = last = number
                committed[thread] += event.instructions
                if committed[thread] >= interval:
                    is_due = True
                if event.op in (_SYNC_REACHED, _TS_WRITE):
                    self._append_to_log(unit, event.op)
            if unit.blocks:
                self._send(unit)
        self._end_blocks()
        self._handle("end")

    def result(self) -> SigraceResult:
        """Result so far."""
        counters, statistics = self._rdm.counters, self._statistics
        statistics.instructions = self._checkpoint.total
        statistics.messages = counters["messages"]
        statistics.comparisons = counters["comparisons"]
        statistics.intersections = counters["intersections"]
        statistics.conflicts_dropped = counters["log_dropped"]
        statistics.lost = dict(self._rdm.lost)
        if self._confirmation is not None:
            statistics.ring_reads = self._confirmation.read
            statistics.ring_writes = self._confirmation.written
        return SigraceResult(
            sorted(self._rollback.races),
            sorted(self._rollback.false_sharing - self._rollback.races),
            counters["conflicts"],
            self._rollback.false_positives,
            statistics,
        )

    def _append_to_log(self, unit: CoreUnit, op: int) -> None:
        """Keep the TS log: the timestamp after each synchronisation and its merge."""
        log = self._checkpoint.log[unit.thread]
        if op == _TS_WRITE:
            log.pop()
        log.append(tuple(unit.timestamp))

    def _send(self, unit: CoreUnit) -> None:
        """Send the finished blocks of a unit to the RDM, and roll back on request."""
        params, statistics = self._params, self._statistics
        for block in unit.blocks:
            statistics.blocks += 1
            statistics.message_bytes += _FLIT_BYTES * len(encode(params, block))
            for step in self._rdm.summary(block.summary(params)):
                statistics.hits += (step.kind, step.relation) == _HIT
        unit.blocks.clear()
        if reasons := self._rdm.reasons & self._answered:
            self._handle(next(name for each, name in _REASONS.items() if each & reasons))

    def _empty_log(self) -> None:
        self._handle("full")

    def _handle(self, reason: str) -> None:
        """Roll back for the logged conflicts."""
        if self._rdm.log:
            self._rollback.handle(self._rdm.log, reason)
            self._rdm.clear_log()
            if self._listener is not None:
                self._listener.clear_log()

    def _end_blocks(self) -> None:
        """End the block of every context, as an interrupt that switches to the kernel does."""
        for (core, context), unit in self._units.items():
            if self._listener is not None:
                self._listener.command(CoreCommand(core, context, _SWITCH_OUT, OWN))
            unit.take(_SWITCH_OUT)
            self._send(unit)

    def _take_checkpoint(self) -> None:
        """Take a global checkpoint; pending conflicts are analysed first."""
        self._end_blocks()
        self._handle("checkpoint")
        self._rdm.flush()
        if self._listener is not None:
            self._listener.flush()
        self._checkpoint.take(self._progress)
        self._statistics.checkpoints += 1
