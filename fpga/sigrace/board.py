"""A SigRace detector behind a link: core events in a fixed order of their messages.

Ref: SigRace (ISCA'09) Section 3, Fig. 5; Section 4.3.
"""

from __future__ import annotations

from collections.abc import Sequence

from racetrap.fpga.host.session import Session, wait_until
from racetrap.golden_model.sigrace.environment import Remap
from racetrap.golden_model.sigrace.packets import CoreEvent, CoreOp, LogEntry, Trap
from racetrap.golden_model.sigrace.params import WORD_BITS, SigraceParams
from racetrap.sim.cosim.sigrace.rdm_software import RdmSoftware

_RESET = CoreEvent(CoreOp.RESET)


class SigraceBoard:
    """Core units and RDM behind a link; the RDM takes messages in the order of the events.

    A verdict depends on the order of messages from different contexts.  Events without a message
    may come in any order, so those of a context are sent many at a time; before another context
    sends a message, the RDM must have taken all earlier ones.

    Parameters
    ----------
    session : Session
        Conversation with the device.
    params : SigraceParams
        Its configuration.

    Attributes
    ----------
    rdm : RdmSoftware
        Registers of the RDM.
    units : int
        Hardware contexts, which are numbered core * contexts + context.
    events, messages : int
        Events sent, and their messages.

    Raises
    ------
    LinkError
        From every method, if the device fails or stalls.
    """

    def __init__(self, session: Session, params: SigraceParams):
        self._session, self._params = session, params
        self.rdm = RdmSoftware(session, params, wait_until)
        self.units = params.cores * params.contexts
        self._batches: list[list[int]] = [[] for _ in range(self.units)]
        self._sender: int | None = None  # context whose messages may be in flight
        self.events = self.messages = 0

    # Before a program -------------------------------------------------------------------

    def start(self) -> None:
        """Clear the state of an earlier run, and switch checking on."""
        self.rdm.control(enable=False)
        for unit in range(self.units):
            while self._session.pull(unit):  # a unit whose trap records are not taken waits
                pass
            self._session.push(unit, [self._pack(_RESET)])
        for unit in range(self.units):
            self._empty(unit)
            self.rdm.remap(Remap(*divmod(unit, self._params.contexts), None))
        self.rdm.flush()
        self.rdm.clear_log()
        self.rdm.clear_counters()
        self.rdm.control(irq_enable=True)  # the board's light of races

    def _empty(self, unit: int) -> None:
        """Wait until a unit has executed all its events.

        No register shows this directly, but one shows whether a timestamp is at its maximum, which
        no program reaches: a unit that goes there and back has finished everything before.
        """
        full = CoreEvent(CoreOp.TS_WRITE, self._params.max_counter)
        for event, saturated in ((_RESET, False), (full, True), (_RESET, False)):
            self._session.push(unit, [self._pack(event)])
            self._wait_saturated(unit, saturated)

    def _wait_saturated(self, unit: int, saturated: bool) -> None:
        def is_reached() -> bool:
            self._session.pull(unit)
            return self.rdm.status()["saturated"] == saturated

        wait_until(is_reached, f"execute the commands of context {unit}")

    # A program --------------------------------------------------------------------------

    def take(self, unit: int, event: CoreEvent, messages: int) -> None:
        """Give a context its next event, and the number of its messages."""
        if messages:
            if self._sender != unit:
                self.settle()
            self._sender = unit
            self.messages += messages
        batch = self._batches[unit]
        batch.append(self._pack(event))
        self.events += 1
        if len(batch) == self._session.room:
            self._send(unit)

    def remap(self, remap: Remap) -> None:
        """Change CoreToThread when all messages before have been taken."""
        self.settle()
        self.rdm.remap(remap)

    def flush(self) -> None:
        """Empty the BlockHistoryQueues when all messages before have been taken."""
        self.settle()
        self.rdm.flush()

    def clear_log(self) -> None:
        """Empty the conflict log."""
        self.rdm.clear_log()

    def log(self) -> list[LogEntry]:
        """The conflict log after all messages up to now."""
        self.settle()
        return self.rdm.log()

    def settle(self) -> None:
        """Send what is left of the last sender's events, and wait until its messages are taken."""
        if self._sender is None:
            return
        self._send(self._sender)
        self._sender = None
        due = min(self.messages, (1 << WORD_BITS) - 1)  # where a counter stays
        wait_until(lambda: self._session.read("MESSAGES") == due, f"accept message {self.messages}")
        self.rdm.wait_idle()

    def finish(self) -> None:
        """Send everything, and wait until all messages are taken."""
        self.settle()
        for unit in range(self.units):
            self._send(unit)

    # Analysis ---------------------------------------------------------------------------

    def analyse(self, unit: int, events: Sequence[CoreEvent], due: int) -> list[Trap]:
        """Let a context execute events while messages are ignored; its trap records.

        Parameters
        ----------
        unit : int
            The context.
        events : sequence of CoreEvent
            Its events, no more than its channel has room for.
        due : int
            Trap records that must come.
        """
        traps: list[int] = []

        def is_done() -> bool:
            if len(traps) < due:
                traps.extend(self._session.pull(unit))
            return len(traps) >= due

        self._session.push(unit, [self._pack(event) for event in events])
        wait_until(is_done, f"give {due} trap records of context {unit}")
        return [self._trap(record) for record in traps]

    def traps(self, unit: int) -> list[Trap]:
        """Trap records that wait."""
        return [self._trap(record) for record in self._session.pull(unit)]

    @property
    def room(self) -> int:
        """Events that one request can give to a context."""
        return self._session.room

    def _trap(self, record: int) -> Trap:
        return Trap(**self._params.trap_layout.unpack(record))

    def _pack(self, event: CoreEvent) -> int:
        return self._params.event_layout.pack(event._asdict())

    def _send(self, unit: int) -> None:
        if self._batches[unit]:
            self._session.push(unit, self._batches[unit])
            self._batches[unit].clear()
