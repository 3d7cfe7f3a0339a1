"""What detector banks of all GPU detectors share: entries, and counters over their steps.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, ClassVar

from racetrap.golden_model.gpu.model import Counters, totals


class GpuDetectorBank:
    """Metadata entries of a bank, and how often it has made each step.

    Parameters
    ----------
    params : GpuParams
        Configuration.
    region : MonitoredRegion
        Monitored region.

    Attributes
    ----------
    entries : dict of int to int
        Metadata entries by index within the region; an absent one is uninitialised.

    Raises
    ------
    ValueError
        If the region cannot be used with the parameters.
    """

    #: Fields of a step that counters use, a named tuple, and the counters.
    counted: ClassVar[Any]
    counter_table: ClassVar[Counters]

    def __init__(self, params: Any, region: Any) -> None:
        region.check(params)
        self.entries: dict[int, int] = {}
        self._params, self._region = params, region
        self._counted: dict[tuple[int, ...], int] = defaultdict(int)  # by ``counted``

    def clear(self) -> None:
        """Make metadata uninitialised, as at launch; counters stay."""
        self.entries.clear()

    @property
    def counters(self) -> dict[str, int]:
        """Counters by name since construction (``accesses`` are those checked)."""
        steps = {self.counted(*step): times for step, times in self._counted.items()}
        return totals(self.counter_table, steps)
