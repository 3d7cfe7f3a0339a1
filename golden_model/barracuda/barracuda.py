"""The paper's analysis."""

from __future__ import annotations

from racetrap.golden_model.barracuda.plain import plain_barracuda
from racetrap.golden_model.barracuda.race import Result
from racetrap.golden_model.trace import Trace

__all__ = ["Barracuda"]


class Barracuda:
    """BARRACUDA's race detection (Figures 2 and 3) on a trace."""

    def run(self, trace: Trace) -> Result:
        """Races and barrier divergences of all kernels of a trace."""
        return plain_barracuda(trace)
