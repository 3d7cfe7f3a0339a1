"""Times of loops on the executor that are compared with one another.

A fused multiplication and addition beside separate ones; and the time of a block that works while
others poll the word that it writes in the end.
"""

from __future__ import annotations

from importlib.resources import files

from racetrap.evaluation.throughput.rates import timed
from racetrap.golden_model.events import USUAL_GEOMETRY
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.ptx.parser import parse_ptx

#: Runs of each loop, of which the fastest counts.
_RUNS = 3
#: Kernel, blocks, threads of each and rounds of the loop.
_LOOPS = {
    "multiply and add": ("separate", 8, 256, 1000),
    "fused multiply and add": ("fused", 8, 256, 1000),
    "work, 15 blocks poll": ("polled", 16, 32, 20_000),
    "work, 120 blocks poll": ("polled", 121, 32, 20_000),
}


def measure_loop(kernel: str, blocks: int, threads: int, rounds: int) -> float:
    """CPU time in seconds of a kernel of ``loops.ptx``, once."""
    device = Device(USUAL_GEOMETRY)
    module = parse_ptx((files(__package__) / "loops.ptx").read_text(encoding="ascii"), "loops.ptx")
    data = device.allocate(4096)

    def launch(rounds: int) -> None:
        device.launch(module, kernel, blocks, threads, [data, rounds])

    launch(1)  # compiles the kernel
    seconds, _ = timed(lambda: launch(rounds))
    return seconds


def loops() -> dict[str, float]:
    """CPU time in seconds of each loop."""
    return {
        name: min(measure_loop(*launch) for _ in range(_RUNS)) for name, launch in _LOOPS.items()
    }
