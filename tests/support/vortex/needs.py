"""Marks of tests that run kernels on Vortex."""

import importlib.util

import pytest

from racetrap.sim.cosim.vortex.kernel_image import KernelError, compiler
from racetrap.sim.cosim.vortex.package import PACKAGE


def _has_compiler() -> bool:
    try:
        compiler()
    except KernelError:
        return False
    return True


needs_vortex = [
    pytest.mark.campaign,
    pytest.mark.skipif(
        importlib.util.find_spec(PACKAGE) is None, reason="Vortex is not installed: make vortex"
    ),
    pytest.mark.skipif(not _has_compiler(), reason="No C compiler for RISC-V: make vortex"),
]
