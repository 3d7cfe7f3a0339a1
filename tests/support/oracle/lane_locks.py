"""A trace that synchronises lane by lane: lanes of diverged warps take locks of their own."""

from random import Random

from racetrap.golden_model.events import ALL_LANES, AtomicOp
from racetrap.golden_model.trace import Trace
from tests.support.oracle.programs import DEVICE, Program

_LOCKS, _DATA = 0x1000, 0x5000
_BLOCKS, _WARPS, _LOCK_COUNT, _TAKERS = 8, 2, 512, 6


def lane_locks_trace(rounds: int, seed: int = 1) -> Trace:
    """A race-free trace in which, in every round, some lanes of each warp take a lock in turn.

    Parameters
    ----------
    rounds : int
        Rounds; each has 864 events.
    seed : int
        Seed of who takes which lock.
    """
    rng = Random(seed)
    program = Program(_BLOCKS, _WARPS)
    for _ in range(rounds):
        for place in ((block, warp) for block in range(_BLOCKS) for warp in range(_WARPS)):
            for lane in rng.sample(range(32), _TAKERS):
                _section(program, place, lane, 4 * rng.randrange(_LOCK_COUNT))
    return program.trace


def _section(program: Program, place: tuple[int, int], lane: int, offset: int) -> None:
    """One lane takes a lock while the others wait, changes its data, and frees it."""
    mask = 1 << lane
    lock = {"lanes": mask, "value": 1, "success": True}
    program.branch(place, mask)
    program.atomic(place, _LOCKS + offset, op=AtomicOp.CAS, pc=0x40, **lock)
    program.fence(place, DEVICE, mask, pc=0x44)
    program.weak_load(place, _DATA + offset, mask, pc=0x48)
    program.weak_store(place, _DATA + offset, mask, pc=0x4C)
    program.fence(place, DEVICE, mask, pc=0x50)
    program.atomic(place, _LOCKS + offset, op=AtomicOp.EXCH, lanes=mask, pc=0x54)
    program.other_side(place, ALL_LANES & ~mask)
    program.together(place, ALL_LANES)
