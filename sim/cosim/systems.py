"""The detectors that the fast co-simulation knows: one line each."""

from __future__ import annotations

from racetrap.generators.systems import system_of
from racetrap.sim.cosim.fast.build import FastModel, P, build_library
from racetrap.sim.cosim.noncoherent.fast_harness import NONCOHERENT
from racetrap.sim.cosim.scord.fast_harness import SCORD
from racetrap.sim.cosim.sigrace.fast_harness import SIGRACE
from racetrap.sim.cosim.verilator.build_cache import Patch

__all__ = ["build_fast"]

_HARNESSES = {"scord": SCORD, "sigrace": SIGRACE, "noncoherent": NONCOHERENT}


def build_fast(preset: str, params: P, patch: Patch | None = None) -> FastModel[P]:
    """Shared library of a system of any detector, built or found in the cache.

    Parameters, result and errors as of ``build_library``, which is given the detector's harness.
    """
    return build_library(preset, params, _HARNESSES[system_of(params).name], patch)
