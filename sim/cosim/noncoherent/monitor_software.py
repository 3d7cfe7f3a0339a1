"""Driver software of a bus monitor, whatever way leads to its registers."""

from __future__ import annotations

from collections.abc import Callable

from racetrap.generators.register_map import RegisterPort
from racetrap.sim.cosim.software.detector_software import DetectorSoftware


class MonitorSoftware(DetectorSoftware):
    """Control, status, counters, and the report ring.

    Parameters
    ----------
    port : RegisterPort
        Way to the registers.
    wait_until : callable
        Waits until a condition, its first argument, holds; the second says in words what the
        hardware then has done.
    """

    def __init__(self, port: RegisterPort, wait_until: Callable[[Callable[[], bool], str], None]):
        super().__init__(port, wait_until)
        self._control = {"enable": 0, "interrupt_enable": 0}

    def start(
        self, ring_base: int, ring_log2: int, *, enable: bool = True, interrupt: bool = False
    ) -> None:
        """Forget everything, and check operations from now on.

        Parameters
        ----------
        ring_base : int
            Byte address of the report ring.
        ring_log2 : int
            Log2 of its records.
        enable, interrupt : bool
            Whether operations are checked, and whether the interrupt line is enabled.
        """
        self.wait_idle()
        self.place_ring(ring_base, ring_log2)
        self._control = {"enable": int(enable), "interrupt_enable": int(interrupt)}
        self.pulse("clear", "clear_counters")
        self.wait_idle()

    def pulse(self, *names: str) -> None:
        """Write CONTROL as it is, with these pulses."""
        self._port.write_fields("CONTROL", **self._control, **dict.fromkeys(names, 1))

    def counters(self) -> dict[str, int]:
        """All event counters, by register name in lower case."""
        return self._port.read_counters()
