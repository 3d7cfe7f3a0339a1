"""Driver software that all detectors share: control, waiting, and reading a report ring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

from racetrap.generators.register_map import RegisterPort
from racetrap.golden_model.protection import PageProtection

_WRAP = 1 << 32


class ControlSoftware:
    """Control a detector, wait for it, and read its counters.

    Parameters
    ----------
    port : RegisterPort
        Access to the registers.
    wait_until : callable
        Waits until a condition, its first argument, holds; the second describes what the hardware
        must do, for errors.
    """

    def __init__(self, port: RegisterPort, wait_until: Callable[[Callable[[], bool], str], None]):
        self._port, self._wait_until = port, wait_until
        #: Fields of CONTROL that stay as they are.
        self._control = {"enable": 0}

    def pulse(self, *names: str) -> None:
        """Write CONTROL as it is, with these pulses."""
        self._port.write_fields("CONTROL", **self._control, **dict.fromkeys(names, 1))

    def protect(self, protection: PageProtection, *, lock: bool) -> None:
        """Require privilege or security of all later accesses to the registers.

        Parameters
        ----------
        protection : PageProtection
            What is required.
        lock : bool
            Whether it holds until reset.
        """
        required = {name: int(value) for name, value in asdict(protection).items()}
        self._port.write_fields("PROTECTION", **required, lock=int(lock))

    def wait_idle(self) -> None:
        """Wait until the hardware has finished everything."""
        self._wait_until(self.is_idle, "become idle")

    def is_idle(self) -> bool:
        """Whether the hardware has finished everything."""
        return bool(self._port.field("STATUS", "idle"))

    def counters(self) -> dict[str, int]:
        """All event counters, by register name in lower case."""
        return self._port.read_counters()


class DetectorSoftware(ControlSoftware):
    """Also place and read a ring of 32-byte records."""

    _tail, _ring_records = 0, 1

    def place_ring(self, base: int, capacity_log2: int) -> None:
        """Write the ring's address; earlier records are discarded.

        Parameters
        ----------
        base : int
            Its byte address.
        capacity_log2 : int
            Log2 of its records.
        """
        self._port.write_pair("REPORT_BASE", base)
        self._port.write("REPORT_CAPACITY_LOG2", capacity_log2)
        self._ring_records = 1 << capacity_log2
        self.empty_ring()

    def empty_ring(self) -> None:
        """Empty the ring; its records are discarded."""
        self._tail = self._port.read("REPORT_HEAD")
        self._port.write("REPORT_TAIL", self._tail)

    def has_records(self) -> bool:
        """Whether the ring holds records that have not been read."""
        return self._port.read("REPORT_HEAD") != self._tail

    def read_records(self, record: Callable[[int], int]) -> list[int]:
        """Records written to the ring since the last call, oldest first.

        Parameters
        ----------
        record : callable
            Returns the record at an index of the ring.

        Raises
        ------
        RuntimeError
            If the ring's registers claim more records than fit.
        """
        head = self._port.read("REPORT_HEAD")
        count = (head - self._tail) % _WRAP
        if count > self._ring_records:
            raise RuntimeError(f"Records in the ring must number {self._ring_records}, not {count}")
        records = [record((self._tail + n) % self._ring_records) for n in range(count)]
        self._tail = head
        self._port.write("REPORT_TAIL", head)
        return records
