"""Kernels of random control flow end with the right values, however their lanes are run."""

import random

import numpy as np
import pytest

from racetrap.golden_model.events import EventKind, Geometry
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.ptx.parser import parse_ptx
from tests.support.gpu.random_kernels import kernel_ptx, random_blocks, result

_THREADS = 70


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("independent", [False, True], ids=["lockstep", "independent"])
def test_random_control_flow(seed, independent):
    rng = random.Random(seed)
    blocks, callee = random_blocks(rng, calls=True), random_blocks(rng, calls=False)
    text = kernel_ptx(blocks, callee, one_end=rng.random() < 0.4)
    device = Device(Geometry(1, 1, 4), independent_threads=independent, seed=seed)
    results = device.allocate(4 * _THREADS)
    device.launch(parse_ptx(text, f"{seed}.ptx"), "k", 1, _THREADS, [results])
    expected = [result(blocks, callee, thread) for thread in range(_THREADS)]
    assert device.read(results, np.uint32, _THREADS).tolist() == expected, f"seed {seed}"
    trace = device.trace("test")
    stored = [lane.address for e in trace if e.kind == EventKind.STORE for lane in e.lanes]
    assert sorted(stored) == [results + 4 * thread for thread in range(_THREADS)]
    parted = sum(e.kind == EventKind.IF for e in trace)
    met = sum(e.kind == EventKind.FI for e in trace)
    assert met <= parted if not independent else met == parted == 0
