"""UTS: number of nodes of trees that a hash function grows, from stacks shared by stealing.

Ref: ScoRD (ISCA'20) Table II, Figure 5; Olivier et al., "UTS: An Unbalanced Tree Search
Benchmark", LCPC 2006.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.launch.kernel_files import load_kernels
from racetrap.sim.gpu.workloads.base import Switch, Workload, WorkloadResult, check_resident

_WORD = 4
_STATE_BITS = 28
_MOST_CHILDREN = 6
#: Fields of a stack record: available, top, locked, nodes, leaves.
_STACK_WORDS = 5
_AVAILABLE, _NODES, _LEAVES = 0, 3, 4


@dataclass(frozen=True)
class _Size:
    blocks: int
    threads: int
    trees: int
    levels: int
    local_capacity: int
    steal_capacity: int


def _mix(values: np.ndarray) -> np.ndarray:
    """The hash function of the kernel, on uint32."""
    values = (values ^ values >> np.uint32(16)) * np.uint32(0x7FEB352D)
    values = (values ^ values >> np.uint32(15)) * np.uint32(0x846CA68B)
    return values ^ values >> np.uint32(16)


def count_nodes(roots: np.ndarray, levels: int) -> tuple[int, int]:
    """Nodes and leaves of the trees, level by level."""
    nodes = leaves = 0
    for level in range(1, levels + 1):
        nodes += len(roots)
        last = level == levels
        children = np.zeros(len(roots), int) if last else _mix(roots) % (_MOST_CHILDREN + 1)
        leaves += int(np.count_nonzero(children == 0))
        parents = np.repeat(roots, children)
        first = np.repeat(np.cumsum(children) - children, children)
        numbers = (np.arange(len(parents)) - first + 1).astype(np.uint32)
        state = _mix(parents + numbers * np.uint32(0x9E3779B9))
        roots = state & np.uint32((1 << _STATE_BITS) - 1) | np.uint32(level + 1 << _STATE_BITS)
    return nodes, leaves


def _play(
    device: Device, size: _Size, random: np.random.Generator, switches: int
) -> WorkloadResult:
    check_resident(device, size.blocks, size.threads)
    kernels = load_kernels(__package__, "unbalanced_tree_search")
    roots = random.integers(0, 1 << _STATE_BITS, size.trees, dtype=np.uint32)
    roots |= np.uint32(1 << _STATE_BITS)
    stacks = np.zeros((size.blocks, _STACK_WORDS), dtype=np.int32)
    slots = np.zeros((size.blocks, size.local_capacity), dtype=np.uint32)
    for block in range(size.blocks):
        own = roots[block :: size.blocks]
        stacks[block, _AVAILABLE] = len(own)
        slots[block, : len(own)] = own
    local_stacks = device.allocate(stacks)
    arguments = [
        local_stacks,
        device.allocate(stacks.nbytes),  # steal stacks
        device.allocate(slots),
        device.allocate(_WORD * size.blocks * size.steal_capacity),
        *(size.local_capacity, size.steal_capacity, size.levels, switches),
    ]
    device.launch(kernels, "search", size.blocks, size.threads, arguments)
    found = device.read(local_stacks, np.int32, stacks.size).reshape(stacks.shape).sum(axis=0)
    expected = np.array(count_nodes(roots, size.levels))
    return WorkloadResult(found[[_NODES, _LEAVES]], expected)


UNBALANCED_TREE_SEARCH = Workload(
    name="UTS",
    title="Unbalanced tree search",
    switches=(
        Switch("block-scope-push-lock", "push to a steal stack: CAS of block scope takes the lock"),
        Switch(
            "block-scope-push-add", "push to a steal stack: add of block scope counts the nodes"
        ),
        Switch("block-scope-push-unlock", "push to a steal stack: exchange of block scope unlocks"),
        Switch("block-scope-pop-lock", "pop from a steal stack: CAS of block scope takes the lock"),
        Switch("block-scope-pop-clear", "pop from a steal stack: exchange of block scope empties"),
        Switch("block-scope-pop-unlock", "pop from a steal stack: exchange of block scope unlocks"),
    ),
    parameters={
        "tiny": _Size(
            blocks=4, threads=64, trees=12, levels=5, local_capacity=64, steal_capacity=1024
        ),
        "small": _Size(
            blocks=8, threads=96, trees=24, levels=6, local_capacity=64, steal_capacity=4096
        ),
        "paper": _Size(
            blocks=60, threads=256, trees=120, levels=9, local_capacity=512, steal_capacity=65536
        ),
    },
    play=_play,
)
