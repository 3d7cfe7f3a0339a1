"""Driver software of the Race Detection Module, independent of the access path to its registers.

Ref: SigRace (ISCA'09) Sections 3.2, 3.3.1 and 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable

from racetrap.generators.register_map import RegisterPort
from racetrap.golden_model.sigrace.environment import Remap
from racetrap.golden_model.sigrace.packets import LogEntry
from racetrap.golden_model.sigrace.params import WORD_BITS, SigraceParams
from racetrap.sim.cosim.software.detector_software import ControlSoftware


class RdmSoftware(ControlSoftware):
    """Control, status, CoreToThread, conflict log and counters.

    Parameters
    ----------
    port : RegisterPort
        Way to the registers.
    params : SigraceParams
        Configuration of the hardware.
    wait_until : callable
        Waits until a condition, its first argument, holds; the second says in words what the
        hardware then has done.
    """

    def __init__(
        self, port: RegisterPort, params: SigraceParams,
        wait_until: Callable[[Callable[[], bool], str], None],
    ):  # fmt: skip
        super().__init__(port, wait_until)
        self._params = params

    @property
    def has_interrupt(self) -> bool:
        """Whether the interrupt line is enabled."""
        return bool(self._control.get("irq_enable"))

    def control(self, *, enable: bool = True, irq_enable: bool = False) -> None:
        """Switch checking, and the interrupt, on or off."""
        self._control = {"enable": int(enable), "irq_enable": int(irq_enable)}
        self.pulse()

    def flush(self) -> None:
        """Empty the BlockHistoryQueues."""
        self.pulse("flush")
        self.wait_idle()

    def clear_log(self) -> None:
        """Empty the conflict log."""
        self.pulse("clear_log")
        self.wait_idle()

    def clear_counters(self) -> None:
        """Set all counters to 0."""
        self.pulse("clear_counters")

    def status(self) -> dict[str, int]:
        """Fields of STATUS; ``reasons`` is the ``Reason`` of the rollback request."""
        return self._port.fields("STATUS")

    # CoreToThread -----------------------------------------------------------------------

    def remap(self, remap: Remap) -> None:
        """Change CoreToThread."""
        for register, fields in remap_fields(remap):
            self._port.write_fields(register, **fields)

    def mapping(self, core: int, context: int) -> tuple[int | None, int]:
        """A context's thread, and its expected sequence number."""
        self._port.write_fields("MAP_SELECT", core=core, context=context)
        fields = self._port.fields("MAP")
        thread = fields["thread"] if fields["valid"] else None
        return thread, self._port.read("MAP_SEQUENCE")

    # Conflict log -----------------------------------------------------------------------

    def log(self) -> list[LogEntry]:
        """The conflict log, oldest entry first."""
        return [self._log_entry(number) for number in range(self.log_count())]

    def log_count(self) -> int:
        """Conflicts logged."""
        return self._port.read("LOG_COUNT")

    def log_word(self, entry: int, word: int) -> int:
        """A word of an entry of the log."""
        self._port.write_fields("LOG_SELECT", entry=entry, word=word)
        return self._port.read("LOG_DATA")

    def _log_entry(self, number: int) -> LogEntry:
        params = self._params
        words = range(params.log_words)
        packed = sum(self.log_word(number, word) << word * WORD_BITS for word in words)
        fields = params.log_layout.unpack(packed)
        del fields["unused"]
        for name in ("thread_timestamp", "other_timestamp"):
            fields[name] = tuple(
                fields[name] >> index * params.timestamp_bits & params.max_counter
                for index in range(params.threads)
            )
        return LogEntry(**fields)


def remap_fields(remap: Remap) -> tuple[tuple[str, dict[str, int]], ...]:
    """Registers to write for a change of CoreToThread, in order, with their fields."""
    thread = remap.thread
    return (
        ("MAP_SELECT", {"core": remap.core, "context": remap.context}),
        ("MAP", {} if thread is None else {"thread": thread, "valid": 1}),
    )
