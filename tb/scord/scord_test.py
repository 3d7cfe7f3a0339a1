"""Base of every UVM test of ScoRD."""

from __future__ import annotations

from racetrap.tb.gpu.gpu_test import GpuTest
from racetrap.tb.scord.environment import ScordEnvironment


class ScordTest(GpuTest):
    """Test in a ``ScordEnvironment``."""

    environment_class = ScordEnvironment
