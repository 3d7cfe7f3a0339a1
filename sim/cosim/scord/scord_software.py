"""Driver software of a ScoRD system, whatever way leads to its registers.

Ref: ScoRD (ISCA'20) Section IV (the host allocates metadata and report buffer).
"""

from __future__ import annotations

from collections.abc import Callable

from racetrap.generators.register_map import RegisterPort
from racetrap.golden_model.scord.params import Region

__all__ = ["ScordSoftware"]

_WRAP = 1 << 32


class ScordSoftware:
    """Launches, status, counters, and the head and tail of the report ring.

    Parameters
    ----------
    port : RegisterPort
        Way to the registers.
    wait_until : callable
        Waits until a condition, its first argument, holds; the second says in words what the
        hardware then has done.
    """

    def __init__(self, port: RegisterPort, wait_until: Callable[[Callable[[], bool], str], None]):
        self._port, self._wait_until = port, wait_until
        self._control = {"enable": 0}
        self._tail = 0
        self._ring_records = 1

    def set_up(self, region: Region, ring_base: int, ring_log2: int) -> None:
        """Write where region, metadata and report ring are; the next launch uses it.

        Parameters
        ----------
        region : Region
            Monitored region, and place of its metadata.
        ring_base : int
            Byte address of the ring.
        ring_log2 : int
            Log2 of its records; all that it held before are forgotten.
        """
        port = self._port
        for name, base in (
            ("DATA", region.data_base),
            ("METADATA", region.metadata_base),
            ("REPORT", ring_base),
        ):
            port.write(f"{name}_BASE_LO", base % _WRAP)
            port.write(f"{name}_BASE_HI", base // _WRAP)
        port.write("REGION_SIZE_LOG2", region.size_log2)
        port.write("REPORT_CAPACITY_LOG2", ring_log2)
        self._ring_records = 1 << ring_log2
        self.empty_ring()

    def launch(self, *, report_filter: bool = False, interrupt: bool = False) -> bool:
        """Clear the counters and launch a kernel; tells whether the hardware accepts.

        Parameters
        ----------
        report_filter : bool
            Whether repeated reports are kept back.
        interrupt : bool
            Whether the interrupt line is enabled.
        """
        self._control = {
            "enable": 1, "report_filter_enable": int(report_filter),
            "interrupt_enable": int(interrupt),
        }  # fmt: skip
        self.control(clear_counters=1, launch=1)
        self._wait_until(lambda: not self.status("busy"), "finish the launch")
        return not self.status("config_error")

    def control(self, **fields: int) -> None:
        """Write CONTROL as launched, with other values of some fields."""
        self._port.write_fields("CONTROL", **(self._control | fields))

    def status(self, field: str) -> int:
        """A field of STATUS."""
        return self._port.field("STATUS", field)

    def wait_idle(self) -> None:
        """Wait until the hardware has finished everything."""
        self._wait_until(lambda: bool(self.status("idle")), "become idle")

    def counters(self) -> dict[str, int]:
        """All event counters, by register name in lower case."""
        return self._port.read_from("ACCESSES")

    # Report ring ------------------------------------------------------------------------

    def empty_ring(self) -> None:
        """Let the ring take as many records as it holds; what is in it is forgotten."""
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
            Gives the record at a place of the ring.

        Raises
        ------
        RuntimeError
            If the ring says to hold more than fit.
        """
        head = self._port.read("REPORT_HEAD")
        count = (head - self._tail) % _WRAP
        if count > self._ring_records:
            raise RuntimeError(f"Records in the ring must number {self._ring_records}, not {count}")
        records = [record((self._tail + n) % self._ring_records) for n in range(count)]
        self._tail = head
        self._port.write("REPORT_TAIL", head)
        return records
