"""Base of every UVM test of ScoRD."""

from __future__ import annotations

from racetrap.golden_model.scord.params import Region
from racetrap.tb.base_test import BaseTest
from racetrap.tb.scord.environment import ScordEnvironment

__all__ = ["ScordTest"]


class ScordTest(BaseTest):
    """Test in a ``ScordEnvironment``."""

    environment_class = ScordEnvironment

    def region(self) -> Region:
        """Monitored region of the plan."""
        return Region(**self.testbench.plan["region"])
