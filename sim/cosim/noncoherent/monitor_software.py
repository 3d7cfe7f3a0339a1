"""Driver software of a bus monitor, independent of the access path to its registers."""

from __future__ import annotations

from racetrap.sim.cosim.software.detector_software import DetectorSoftware


class MonitorSoftware(DetectorSoftware):
    """Control, status, counters, and the report ring."""

    def start(
        self, ring_base: int, ring_log2: int, *, enable: bool = True, interrupt: bool = False
    ) -> None:
        """Clear the monitor, and check operations from now on.

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
