"""Race oracles for GPU traces: BARRACUDA's analysis, and its scope-aware extension."""

from racetrap.golden_model.barracuda.barracuda import Barracuda
from racetrap.golden_model.barracuda.race import (
    BarrierDivergence,
    Party,
    Race,
    RaceClass,
    RaceKind,
    Result,
)
from racetrap.golden_model.barracuda.scoped import ScopedOracle

__all__ = [
    "Barracuda",
    "BarrierDivergence",
    "Party",
    "Race",
    "RaceClass",
    "RaceKind",
    "Result",
    "ScopedOracle",
]
