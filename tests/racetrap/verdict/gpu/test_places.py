"""Places of races in headers, templates and libraries: the innermost line, and the way there."""

import re

import numpy as np
import pytest

from racetrap.golden_model.events import Geometry
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.launch.kernel_files import kernel_folder, load_kernels
from racetrap.verdict.gpu.trace_check import TraceCheck

PACKAGE = "tests.support.gpu.places"
_FOLDER = kernel_folder(PACKAGE)
_SOURCES = {
    path.name: path.read_text(encoding="utf-8").splitlines() for path in _FOLDER.glob("*.cu*")
}
#: Lines of headers of the C++ library, as of CUDA 13.0.
_LIBRARY = {
    "library_swap": {"swap.h:42", "swap.h:43", "swap.h:44"},
    "library_array": {"fill_n.h:34"},
    "library_atomic": {"cuda_ptx_generated.h:2483"},
}
KERNELS = re.findall(r"^KERNEL\((\w+)\)", "\n".join(_SOURCES["kernels.cu"]), re.MULTILINE)


def check(kernel):
    """Check of a kernel of two blocks of one warp, or of one of two warps."""
    is_shared = kernel == "template_stencil"
    device = Device(Geometry(sm_count=2, blocks_per_sm=1, warps_per_sm=2))
    module = load_kernels(PACKAGE, "kernels")
    data = device.allocate(np.zeros(64, np.int32))
    device.launch(module, kernel, 1 if is_shared else 2, 64 if is_shared else 1, [data])
    traces = TraceCheck(folder=_FOLDER)
    traces.add(device.trace(kernel))
    return traces


def lines_of(kernel):
    """Lines that a comment says race in a kernel."""
    return _LIBRARY.get(kernel) or {
        f"{name}:{number}"
        for name, lines in _SOURCES.items()
        for number, line in enumerate(lines, start=1)
        if line.endswith(f"// race: {kernel}")
    }


def places(pairs):
    return {
        place.rpartition("/")[2] for pair in pairs for place in pair.first.places
    }  # fmt: skip


def test_twelve_kernels():
    assert len(KERNELS) == len(set(KERNELS)) == 12
    for kernel in KERNELS:
        assert lines_of(kernel)


@pytest.mark.parametrize("kernel", KERNELS)
def test_innermost_lines_and_the_way_to_the_kernel(kernel):
    pairs = check(kernel).pairs
    assert places(pairs) == lines_of(kernel)
    for pair in pairs:
        for _, side in pair.first.sides:
            assert side.stack[-1].function == kernel
            assert side.column
