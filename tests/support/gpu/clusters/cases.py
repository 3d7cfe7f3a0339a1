"""Kernels of clusters: launches, results, and the lines that race in the racy form of each."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from racetrap.golden_model.events import Geometry
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.executor.machine.errors import KernelFault
from racetrap.sim.gpu.launch.kernel_files import kernel_folder, load_kernels

PACKAGE, SOURCE = "tests.support.gpu.clusters", "clusters_sm90"
_GEOMETRY = Geometry(sm_count=4, blocks_per_sm=8, warps_per_sm=16)
_WORDS = 1024
#: Threads of a block.
_BLOCK = 32


class Case(NamedTuple):
    """A kernel and its racy form.

    Parameters
    ----------
    grid : int or tuple of int
        Blocks of the launch.
    result : callable
        How ``data`` begins, given the number of blocks.
    races : tuple of frozenset of str
        Pairs of marked lines that race in the racy form.
    owner : callable, optional
        From the block of the earlier access and that of the later one to the blocks whose shared
        memory it may be; none of global memory.
    ends_early : bool
        Whether the racy form can fault, as a block ends that another one still needs.
    """

    grid: int | tuple[int, int]
    result: Callable[[int], np.ndarray]
    races: tuple[frozenset[str], ...]
    owner: Callable[[int, int], set[int]] | None = None
    ends_early: bool = False


def _pair(*names: str) -> tuple[frozenset[str], ...]:
    return (frozenset(names),)


def _threads(blocks: int) -> np.ndarray:
    return np.arange(blocks * _BLOCK)


def _histogram(blocks: int) -> np.ndarray:
    return np.bincount(_threads(blocks) * 7 % 31, minlength=32)


def _ring(blocks: int) -> np.ndarray:
    before = np.arange(blocks).reshape(-1, 4)[:, [3, 0, 1, 2]].reshape(-1)
    return (100 * before[:, None] + np.arange(_BLOCK)).reshape(-1)


def _tiles(blocks: int) -> np.ndarray:
    y, x, lane = np.mgrid[:2, : blocks // 2, :_BLOCK]
    from_y, from_x = x % 2, x - x % 2 + y
    return (1000 * from_y + 100 * from_x + 31 - lane).reshape(-1)


def _steps(blocks: int) -> np.ndarray:
    words = np.arange(blocks).reshape(-1, 4)
    for _ in range(3):
        words = np.roll(words, 1, axis=1) + np.roll(words, -1, axis=1)
    return np.repeat(words.reshape(-1), _BLOCK)


def _handed_over(value: int) -> Callable[[int], np.ndarray]:
    return lambda blocks: np.where(np.arange(blocks) % 2, value, 0)


def _swapped(blocks: int) -> np.ndarray:
    return np.repeat((np.arange(blocks) ^ 1) + 1, _BLOCK)


def _mbarrier(blocks: int) -> np.ndarray:
    odd = np.arange(1, blocks, 2)
    return (3 * (_BLOCK * odd[:, None] + np.arange(_BLOCK))).reshape(-1)


def _first_of(size: int) -> Callable[[int, int], set[int]]:
    return lambda earlier, later: {later // size * size}


def _either(earlier: int, later: int) -> set[int]:
    return {earlier, later}


CASES = {
    "histogram": Case(2, _histogram, _pair("histogram: zero", "histogram: add"), _either),
    "complete": Case(
        8, lambda blocks: np.full(2, 3 * _BLOCK), _pair("complete: add", "complete: read"),
        _first_of(4),
    ),
    "counter": Case(
        16, lambda blocks: np.full(2, 8 * _BLOCK), _pair("counter: narrow"), _first_of(8)
    ),
    "ring": Case(8, _ring, _pair("ring: give", "ring: take"), _either),
    "sum": Case(
        16, lambda blocks: _threads(blocks).reshape(2, -1).sum(axis=1),
        _pair("sum: read", "sum: end"), _either, ends_early=True,
    ),
    "split": Case(4, _swapped, _pair("split: write", "split: read"), _either),
    "relaxed": Case(4, _swapped, _pair("relaxed: write", "relaxed: read"), _either),
    "mbarrier": Case(
        4, _mbarrier, _pair("mbarrier: write", "mbarrier: read"), _first_of(2)
    ),
    "flag": Case(
        4, _handed_over(42),
        (
            *_pair("flag: write", "flag: read"), *_pair("flag: narrow", "flag: await"),
        ),
        lambda earlier, later: {max(earlier, later)},
    ),
    "fences": Case(4, _handed_over(7), _pair("fences: write", "fences: read"), _either),
    "tiles": Case((4, 2), _tiles, _pair("tiles: write", "tiles: read"), _either),
    "handover": Case(
        4, lambda blocks: _threads(blocks).reshape(-1, 2, _BLOCK)[:, ::-1].reshape(-1),
        _pair("handover: write", "handover: read"),
    ),
    "steps": Case(4, _steps, _pair("steps: read", "steps: write"), _either),
    "pointer": Case(
        4, lambda blocks: 5 * np.arange(blocks) + 1, _pair("pointer: update", "pointer: read"),
        _either,
    ),
}  # fmt: skip


@cache
def marked_lines() -> dict[int, str]:
    """Names of the lines that have one."""
    text = (kernel_folder(PACKAGE) / f"{SOURCE}.cu").read_text(encoding="utf-8")
    return {
        number: found[1]
        for number, line in enumerate(text.splitlines(), 1)
        if (found := re.search(r"// (\w+: \w+)$", line))
    }


def line_of(trace: Trace, pc: int) -> str:
    """Name of the line of an instruction."""
    place = trace.header.locations[pc]
    return marked_lines().get(int(place.rpartition(":")[2]), place)


class CaseRun(NamedTuple):
    """What a run of a kernel leaves behind.

    Parameters
    ----------
    trace : Trace
        Its trace.
    data : numpy.ndarray
        Contents of ``data``.
    fault : str
        What ended it, if a fault did.
    """

    trace: Trace
    data: np.ndarray
    fault: str


def run_case(name: str, scheduler: str, seed: int = 1, **options: Any) -> CaseRun:
    """Run a kernel on a new device.

    Parameters
    ----------
    name : str
        Name of the kernel.
    scheduler, seed : str, int
        Order of the warps.
    options
        Others of the device.
    """
    case, fault = CASES[name.removesuffix("_racy")], ""
    device = Device(
        _GEOMETRY, scheduler=scheduler, seed=seed, **({"independent_threads": True} | options)
    )
    data = device.allocate(4 * _WORDS)
    try:
        device.launch(load_kernels(PACKAGE, SOURCE), name, case.grid, _BLOCK, [data])
    except KernelFault as error:
        fault = str(error)
    return CaseRun(device.trace(f"{name}, {scheduler}"), device.read(data, "i4", _WORDS), fault)


def result_of(name: str) -> np.ndarray:
    """How ``data`` begins after a kernel."""
    case = CASES[name]
    return case.result(int(np.prod(case.grid)))
