"""A recorded program on a SigRace board, in lock step with the golden model.

Ref: SigRace (ISCA'09) Sections 3.2 to 3.4.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from racetrap.fpga.host.client import reached
from racetrap.fpga.host.session import Session
from racetrap.fpga.sigrace.board import SigraceBoard
from racetrap.golden_model.sigrace.core_unit import CoreUnit
from racetrap.golden_model.sigrace.environment import Command, Remap
from racetrap.golden_model.sigrace.listener import RecordingUnit
from racetrap.golden_model.sigrace.packets import CoreEvent, LogEntry, Trap
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.rdm import Rdm
from racetrap.golden_model.sigrace.result import SigraceResult
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cosim.comparison.mismatch import Mismatch, compare_counters, difference


@dataclass(frozen=True)
class ProgramRun:
    """What a program did on a board; all of it has been compared.

    Parameters
    ----------
    result : SigraceResult
        What the software found with it.
    log : tuple of LogEntry
        Records of the conflict log, in the order in which they were read.
    traps : tuple of Trap
        Trap records of Analysis.
    requests : int
        Conflict logs that were read because the RDM had requested a rollback.
    counters : dict of str to int
        The RDM's counters by name.
    events, messages, analysed : int
        Events of all contexts, Summary messages, events of contexts in Analysis mode.
    seconds : float
        Time of all of it.
    """

    result: SigraceResult
    log: tuple[LogEntry, ...]
    traps: tuple[Trap, ...]
    requests: int
    counters: dict[str, int]
    events: int
    messages: int
    analysed: int
    seconds: float


class _Machine:
    """A board instead of the hardware that the golden model's software expects.

    A golden RDM beside it takes the same messages, all those of an event before software reads,
    as hardware does.  Epochs are analysed at the end, while the RDM ignores messages: until then
    the board continues where it was, as a machine does after Analysis.

    Attributes
    ----------
    number : int
        Number of the trace's event that is in flight.
    log, traps, requests
        As of ``ProgramRun``.
    """

    def __init__(
        self, board: SigraceBoard, params: SigraceParams, progress: Callable[[int], None]
    ) -> None:
        self._board, self._params, self._progress = board, params, progress
        self._units = [
            CoreUnit(params, *divmod(place, params.contexts)) for place in range(board.units)
        ]
        self._rdm = Rdm(params)
        self._epochs: list[RecordingUnit] = []
        self.number = self.requests = 0
        self.log: list[LogEntry] = []
        self.traps: list[Trap] = []

    # Calls of the golden model's software ------------------------------------------------

    def command(self, command: Command) -> None:
        if isinstance(command, Remap):
            self._board.remap(command)
            self._rdm.map(*command)
            return
        core, context, event, number = command
        if number > self.number:
            self.number = number
            self._progress(number)
        place = core * self._params.contexts + context
        unit = self._units[place]
        unit.take(event)
        self._board.take(place, event, len(unit.blocks))
        for block in unit.blocks:
            self._rdm.summary(block.summary(self._params))
        unit.blocks.clear()

    def flush(self) -> None:
        self._board.flush()
        self._rdm.flush()

    def clear_log(self) -> None:
        self._compare_log()
        self._board.clear_log()
        self._rdm.clear_log()

    def analysis_unit(self) -> CoreUnit:
        self._epochs.append(RecordingUnit(self._params))
        return self._epochs[-1]

    # The end -----------------------------------------------------------------------------

    def finish(self) -> None:
        """Analyse, and compare everything that has not been compared."""
        board = self._board
        board.finish()
        self._compare_log()
        board.rdm.control(enable=False)
        self._rdm.enabled = False
        for number, epoch in enumerate(self._epochs):
            self._analyse(number % board.units, epoch.events)

    @property
    def analysed(self) -> int:
        """Events in Analysis mode, with those that lead there."""
        return sum(len(epoch.events) for epoch in self._epochs)

    def compare_counters(self, counters: dict[str, int]) -> None:
        """Compare what the board has counted, and demand that no trap record is left over."""
        compare_counters(counters, self._rdm.counters)
        for unit in range(self._board.units):
            if traps := self._board.traps(unit):
                raise Mismatch(f"Context {unit} must give no other trap record, not {traps[0]}")

    def _compare_log(self) -> None:
        """Compare the conflict log in every field, and why a rollback is requested."""
        log, golden = self._board.log(), self._rdm.log
        for seen, due in zip(log, golden, strict=False):
            if seen != due:
                raise Mismatch(f"Conflict log: {difference('record', seen, due)}")
        if len(log) != len(golden):
            raise Mismatch(f"Conflict log must have {len(golden)} records, not {len(log)}")
        if (reasons := self._board.rdm.status()["reasons"]) != self._rdm.reasons:
            raise Mismatch(f"Reasons of the rollback must be {self._rdm.reasons}, not {reasons}")
        self.log += log
        self.requests += reasons != 0

    def _analyse(self, place: int, events: Sequence[CoreEvent]) -> None:
        """Let a context execute an epoch in Analysis mode, and compare its trap records."""
        unit, board = self._units[place], self._board
        room = board.room
        for start in range(0, len(events), room):
            part = events[start : start + room]
            for event in part:
                unit.take(event)
            traps = board.analyse(place, part, len(unit.traps))
            if traps != unit.traps:
                raise Mismatch(f"Trap records of context {place} must be {unit.traps}, not {traps}")
            self.traps += traps
            unit.traps.clear()
        for block in unit.blocks:
            self._rdm.summary(block.summary(self._params))
        unit.blocks.clear()


def run_program(
    session: Session,
    sigrace: Sigrace,
    trace: ThreadTrace,
    progress: Callable[[int], None] = lambda _: None,
) -> ProgramRun:
    """Run a recorded program on a board, with its conflicts analysed, and compare all.

    Parameters
    ----------
    session : Session
        Conversation with the device.
    sigrace : Sigrace
        The software, and the golden model; its parameters are the device's.
    trace : ThreadTrace
        The program.
    progress : callable
        Told the number of each event of the trace that is sent.

    Raises
    ------
    LinkError
        If the device fails; says how far it came.
    Mismatch
        If board and golden model differ.
    ValueError
        If the trace does not fit the machine, or ``sigrace`` is not one that can be built.
    """
    if sigrace.unbounded:
        raise ValueError("Queues of the software must be those of the hardware, not unbounded")
    started = time.monotonic()
    board = SigraceBoard(session, sigrace.params)
    machine = _Machine(board, sigrace.params, progress)
    with reached(lambda: f"event {machine.number}, with {board.events} events of contexts sent"):
        board.start()
        result = sigrace.run(trace, machine)
        machine.finish()
        counters = board.rdm.counters()
        machine.compare_counters(counters)
    return ProgramRun(
        result, tuple(machine.log), tuple(machine.traps), machine.requests, counters,
        board.events, board.messages, machine.analysed, time.monotonic() - started,
    )  # fmt: skip
