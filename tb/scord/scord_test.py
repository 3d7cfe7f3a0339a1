"""Base of every UVM test of ScoRD."""

from __future__ import annotations

from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.gpu.region_table import LineRegion, MonitoredRegion, RegionTable
from racetrap.tb.base_test import BaseTest
from racetrap.tb.scord.environment import ScordEnvironment

__all__ = ["ScordTest"]


class ScordTest(BaseTest):
    """Test in a ``ScordEnvironment``."""

    environment_class = ScordEnvironment

    def region(self) -> MonitoredRegion:
        """Monitored region of the plan, or its table of regions."""
        region = self.testbench.plan["region"]
        if "regions" in region:
            return RegionTable(tuple(LineRegion(**one) for one in region["regions"]))
        return Region(**region)
