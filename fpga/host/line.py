"""Counters of a line, as both of its ends keep them."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from racetrap.fpga.host.client import HostLink
from racetrap.golden_model.link.frames import Counters, Kind

#: Where the device's counters stop.
_STOPPED = 0xFFFF


@dataclass(frozen=True)
class Line:
    """Both ends' counters of a line at one moment.

    Parameters
    ----------
    host, device : dict of str to int
        Counts by name.
    """

    host: dict[str, int]
    device: dict[str, int]

    @classmethod
    def read(cls, link: HostLink) -> Line:
        """The counters now."""
        device = Counters.from_payload(link.request(Kind.COUNTERS))
        return cls(asdict(link.counts), device._asdict())

    def since(self, before: Line) -> dict[str, dict[str, int]]:
        """Counts of both ends since then; a counter that has stopped stays as it is."""
        return {
            "host": {name: count - before.host[name] for name, count in self.host.items()},
            "device": {
                name: count if count == _STOPPED else count - before.device[name]
                for name, count in self.device.items()
            },
        }
