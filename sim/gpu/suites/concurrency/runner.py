"""Runs of the suite's cases on the executor.

Ref: BARRACUDA (PLDI'17) Section 6.1.
"""

from __future__ import annotations

from racetrap.golden_model.events import Geometry
from racetrap.golden_model.trace.gpu.trace import Trace
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.launch.kernel_files import load_kernels
from racetrap.sim.gpu.suites.concurrency.cases import Case

#: Warp schedulers and seeds that every case runs under.
SCHEDULES = (
    ("in-order", 1),
    ("round-robin", 1),
    ("greedy-then-oldest", 1),
    *(("random", seed) for seed in range(1, 6)),
)

_PACKAGE = "racetrap.sim.gpu.suites.concurrency"
#: Room for every block of a case at once: two SMs, so that neighbouring blocks are on both.
GEOMETRY = Geometry(sm_count=2, blocks_per_sm=4, warps_per_sm=16)
_DATA_BYTES = 4096
_SYNC_BYTES = 256


def run_case(case: Case, device: Device) -> tuple[bytes, ...]:
    """Run the case's kernel on a device; returns the final contents of its buffers."""
    module = load_kernels(_PACKAGE, case.source)
    buffers = {device.allocate(size): size for size in (_DATA_BYTES, _SYNC_BYTES)}
    for _ in range(case.launches):
        device.launch(module, case.name, case.grid, case.block, [*buffers], case.dynamic_shared)
    return tuple(bytes(device.read(buffer, "u1", size)) for buffer, size in buffers.items())


def capture(case: Case, scheduler: str, seed: int) -> Trace:
    """Run the case's kernel on a new device and return its trace.

    Parameters
    ----------
    case : Case
        What to run.
    scheduler, seed : str, int
        Warp scheduler of the executor, and its seed.
    """
    device = Device(GEOMETRY, scheduler=scheduler, seed=seed)
    run_case(case, device)
    return device.trace(f"{case.name}, {scheduler}, seed {seed}")
