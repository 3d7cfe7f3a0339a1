"""Base of every UVM test of a GPU detector."""

from __future__ import annotations

from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.gpu.region_table import LineRegion, MonitoredRegion, RegionTable
from racetrap.tb.base_test import BaseTest


class GpuTest(BaseTest):
    """Test in a ``GpuEnvironment``, which a detector names."""

    def region(self) -> MonitoredRegion:
        """Monitored region of the plan, or its table of regions."""
        region = self.testbench.plan["region"]
        if "regions" in region:
            return RegionTable(tuple(LineRegion(**one) for one in region["regions"]))
        return Region(**region)
