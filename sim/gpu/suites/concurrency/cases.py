"""All cases of the concurrency suite, by the name of their group."""

from types import MappingProxyType

from racetrap.sim.gpu.suites.concurrency.atomics import ATOMIC_CASES
from racetrap.sim.gpu.suites.concurrency.block import BLOCK_CASES
from racetrap.sim.gpu.suites.concurrency.flags import FLAG_CASES
from racetrap.sim.gpu.suites.concurrency.grid import GRID_CASES
from racetrap.sim.gpu.suites.concurrency.lock_patterns import LOCK_PATTERN_CASES
from racetrap.sim.gpu.suites.concurrency.locks import LOCK_CASES
from racetrap.sim.gpu.suites.concurrency.warp import WARP_CASES
from racetrap.sim.gpu.suites.concurrency.words import WORD_CASES

__all__ = ["CASES", "GROUPS"]

#: Cases by what they are about.
GROUPS = MappingProxyType({
    "Threads of one warp": WARP_CASES,
    "Warps of one block": BLOCK_CASES,
    "Words and parts of words": WORD_CASES,
    "Flags": FLAG_CASES,
    "Locks": LOCK_CASES,
    "Locks of other kinds": LOCK_PATTERN_CASES,
    "Blocks of a grid": GRID_CASES,
    "Atomics": ATOMIC_CASES,
})  # fmt: skip

#: Every case by name.
CASES = MappingProxyType({case.name: case for cases in GROUPS.values() for case in cases})
