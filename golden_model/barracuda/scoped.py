"""The scope-aware oracle: ground truth for ScoRD."""

from __future__ import annotations

from racetrap.golden_model.barracuda.plain import plain_scoped
from racetrap.golden_model.barracuda.race import Result
from racetrap.golden_model.trace import Trace

__all__ = ["ScopedOracle"]


class ScopedOracle:
    """Happens-before race detection in which fences, atomics and strong accesses have scopes."""

    def run(self, trace: Trace) -> Result:
        """Races and barrier divergences of all kernels of a trace."""
        return plain_scoped(trace)
