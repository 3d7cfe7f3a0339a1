"""Driver software of a GPU detector, independent of the access path to its registers.

Ref: ScoRD (ISCA'20) Section IV (the host allocates metadata and report buffer).
"""

from __future__ import annotations

from collections.abc import Callable

from racetrap.golden_model.gpu.protection import MemoryBounds
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.gpu.region_table import LineRegion, MonitoredRegion, regions_of
from racetrap.sim.cosim.software.detector_software import DetectorSoftware


class GpuSoftware(DetectorSoftware):
    """Launches, status, counters, and the head and tail of the report ring."""

    def set_up(self, region: MonitoredRegion, ring_base: int, ring_log2: int) -> None:
        """Write the addresses of region, metadata and report ring, for the next launch.

        Parameters
        ----------
        region : MonitoredRegion
            Monitored region, and address of its metadata.
        ring_base : int
            Byte address of the ring.
        ring_log2 : int
            Log2 of its records; earlier ones are discarded.
        """
        port = self._port
        if isinstance(region, Region) and port.map.has("REGION_SIZE_LOG2"):
            port.write_pair("DATA_BASE", region.data_base)
            port.write_pair("METADATA_BASE", region.metadata_base)
            port.write("REGION_SIZE_LOG2", region.size_log2)
        else:
            regions = regions_of(region)
            for number in range(port.field("PARAMS_REGIONS", "regions")):
                one = regions[number] if number < len(regions) else LineRegion()
                port.write_pair(f"REGION{number}_DATA_BASE", one.data_base)
                port.write(f"REGION{number}_LINES", one.lines)
                port.write_pair(f"REGION{number}_METADATA_BASE", one.metadata_base)
        self.place_ring(ring_base, ring_log2)

    def set_bounds(self, bounds: MemoryBounds, *, lock: bool) -> None:
        """Write the bounds of metadata and ring; possible before the first launch only.

        Parameters
        ----------
        bounds : MemoryBounds
            The bounds.
        lock : bool
            Whether they hold until reset already; else from the first launch on.
        """
        for part, one in (("METADATA", bounds.metadata), ("REPORT", bounds.report)):
            self._port.write_pair(f"{part}_BOUNDS_BASE", one.base)
            self._port.write_pair(f"{part}_BOUNDS_LIMIT", one.limit)
        self._port.write_fields("BOUNDS", lock=int(lock))

    def launch(
        self, *, report_filter: bool = False, interrupt: bool = False,
        meanwhile: Callable[[], object] = lambda: None,
    ) -> bool:  # fmt: skip
        """Clear the counters and launch a kernel; return whether the hardware accepts.

        Parameters
        ----------
        report_filter : bool
            Whether repeated reports are suppressed.
        interrupt : bool
            Whether the interrupt line is enabled.
        meanwhile : callable
            What else happens as soon as the hardware takes no transactions.
        """
        self._control = {
            "enable": 1, "report_filter_enable": int(report_filter),
            "interrupt_enable": int(interrupt),
        }  # fmt: skip
        self.control(clear_counters=1, launch=1)
        self.status("busy")  # the gates have closed when this has been answered
        meanwhile()
        self._wait_until(lambda: not self.status("busy"), "finish the launch")
        return not self.status("config_error")

    def launch_again(self, before: Callable[[], object], when_busy: Callable[[], object]) -> None:
        """Clear the counters and launch as before.

        Parameters
        ----------
        before : callable
            What happens before software looks whether the launch is done.
        when_busy : callable
            What happens when it is not.
        """

        def is_done() -> bool:
            before()
            if is_busy := self.status("busy"):
                when_busy()
            return not is_busy

        self.control(clear_counters=1, launch=1)
        self._wait_until(is_done, "finish the launch")

    def enable(self) -> None:
        """Let transactions be checked from the next launch on."""
        self._control = {"enable": 1}
        self.control()

    def control(self, **fields: int) -> None:
        """Write CONTROL as launched, with other values of some fields."""
        self._port.write_fields("CONTROL", **(self._control | fields))

    def status(self, field: str) -> int:
        """A field of STATUS."""
        return self._port.field("STATUS", field)
