"""What software does with the registers of the Race Detection Module, however it reaches them.

Ref: SigRace (ISCA'09) Sections 3.2, 3.3.1 and 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from racetrap.golden_model.sigrace.environment import Remap
from racetrap.golden_model.sigrace.packets import LogEntry
from racetrap.golden_model.sigrace.params import WORD_BITS, SigraceParams

__all__ = ["RdmSoftware", "RegisterPort", "remap_fields"]


class RegisterPort(Protocol):
    """A way to the registers, by their names."""

    def read(self, register: str) -> int:
        """Value of a register."""

    def field(self, register: str, field: str) -> int:
        """Value of a field of a register."""

    def write_fields(self, register: str, **fields: int) -> None:
        """Write a register with some fields set, the others 0."""

    def read_from(self, first: str) -> dict[str, int]:
        """All registers from ``first`` on, by name in lower case."""


class RdmSoftware:
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
        self,
        port: RegisterPort,
        params: SigraceParams,
        wait_until: Callable[[Callable[[], bool], str], None],
    ):
        self._port, self._params, self._wait_until = port, params, wait_until
        self._control = {"enable": 0, "irq_enable": 0}

    def control(self, *, enable: bool = True, irq_enable: bool = False) -> None:
        """Switch checking, and the interrupt, on or off."""
        self._control = {"enable": enable, "irq_enable": irq_enable}
        self._port.write_fields("CONTROL", **self._control)

    def flush(self) -> None:
        """Empty the BlockHistoryQueues."""
        self._port.write_fields("CONTROL", **self._control, flush=1)
        self.wait_idle()

    def clear_log(self) -> None:
        """Empty the conflict log."""
        self._port.write_fields("CONTROL", **self._control, clear_log=1)
        self.wait_idle()

    def clear_counters(self) -> None:
        """Set all counters to 0."""
        self._port.write_fields("CONTROL", **self._control, clear_counters=1)

    def wait_idle(self) -> None:
        """Poll the status until the RDM is idle."""
        self._wait_until(lambda: bool(self._port.field("STATUS", "idle")), "become idle")

    @property
    def is_saturated(self) -> bool:
        """Whether a timestamp's counter is at its maximum."""
        return bool(self._port.field("STATUS", "saturated"))

    @property
    def reasons(self) -> int:
        """``Reason`` of the rollback request."""
        return self._port.field("STATUS", "reasons")

    def counters(self) -> dict[str, int]:
        """All event counters, by register name in lower case."""
        return self._port.read_from("MESSAGES")

    def remap(self, remap: Remap) -> None:
        """Change CoreToThread."""
        for register, fields in remap_fields(remap):
            self._port.write_fields(register, **fields)

    def log(self) -> list[LogEntry]:
        """The conflict log, oldest entry first."""
        return [self._log_entry(number) for number in range(self._port.read("LOG_COUNT"))]

    def _log_entry(self, number: int) -> LogEntry:
        params, entry = self._params, 0
        for word in range(params.log_words):
            self._port.write_fields("LOG_SELECT", entry=number, word=word)
            entry |= self._port.read("LOG_DATA") << word * WORD_BITS
        fields = params.log_layout.unpack(entry)
        for name in ("thread_timestamp", "other_timestamp"):
            fields[name] = tuple(
                fields[name] >> index * params.timestamp_bits & params.max_counter
                for index in range(params.threads)
            )
        del fields["unused"]
        return LogEntry(**fields)


def remap_fields(remap: Remap) -> tuple[tuple[str, dict[str, int]], ...]:
    """Registers to write for a change of CoreToThread, in order, with their fields."""
    thread = remap.thread
    return (
        ("MAP_SELECT", {"core": remap.core, "context": remap.context}),
        ("MAP", {} if thread is None else {"thread": thread, "valid": 1}),
    )
