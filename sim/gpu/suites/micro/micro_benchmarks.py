"""The 32 micro-benchmarks of the ScoR suite: 14 race-free and 18 racy synchronisation patterns.

The names are the suite's.  Those whose name has ``33 threads`` behind it in the suite have two
warps a block; only the threads that act appear.

Ref: ScoRD (ISCA'20) Section III (ScoR) and Section V.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from racetrap.golden_model.scord.packets import RaceKind
from racetrap.golden_model.scord.report import RaceReport
from racetrap.sim.gpu.suites.micro.patterns import (
    acquire,
    await_flag,
    await_turn,
    locked_store,
    publish,
    release,
)
from racetrap.sim.gpu.suites.micro.program import (
    BLOCK,
    DEVICE,
    VARIABLES,
    Actor,
    MicroProgram,
    Statement,
    exch,
    fence,
    load,
    store,
    weak_store,
)

_BLOCK_FENCE = RaceKind.MISSING_BLOCK_FENCE
_DEVICE_FENCE = RaceKind.MISSING_DEVICE_FENCE
_WEAK = RaceKind.NOT_STRONG
_ATOMIC = RaceKind.SCOPED_ATOMIC
_LOCK = RaceKind.MISSING_LOCK


@dataclass(frozen=True)
class MicroBenchmark(MicroProgram):
    """A program with its expected verdict.

    Parameters
    ----------
    kinds : frozenset of RaceKind
        Kinds of race that may be reported, by schedule; empty for a race-free program.
    """

    kinds: frozenset[RaceKind] = frozenset()

    @property
    def racy(self) -> bool:
        """Whether a race is expected."""
        return bool(self.kinds)

    def is_right(self, races: Iterable[RaceReport]) -> bool:
        """Whether the races reported are the verdict expected.

        A racy program must be caught at its shared data, and nothing but acceptable kinds may
        be reported.
        """
        races = list(races)
        caught = any(race.address == VARIABLES["data"] for race in races)
        return caught == self.racy and all(race.race in self.kinds for race in races)


_Statements = Iterable[Statement]


def _make(
    name: str, actors: Mapping[tuple[int, int], _Statements], *kinds: RaceKind
) -> MicroBenchmark:
    """Micro-benchmark whose grid is the smallest that the names of its actors need."""
    return MicroBenchmark(
        name=name,
        blocks=1 + max(block for block, _ in actors),
        warps_per_block=1 + max(warp for _, warp in actors),
        actors=tuple(
            Actor(block, warp, tuple(statements)) for (block, warp), statements in actors.items()
        ),
        kinds=frozenset(kinds),
    )


def _blocks(name: str, one: _Statements, other: _Statements, *kinds: RaceKind) -> MicroBenchmark:
    """Two blocks of one warp."""
    return _make(name, {(0, 0): one, (1, 0): other}, *kinds)


def _warps(name: str, one: _Statements, other: _Statements, *kinds: RaceKind) -> MicroBenchmark:
    """Two warps of one block."""
    return _make(name, {(0, 0): one, (0, 1): other}, *kinds)


def _warp(name: str, *statements: Statement) -> MicroBenchmark:
    """One warp."""
    return _make(name, {(0, 0): statements})


def _hrf_indirect() -> MicroBenchmark:
    return _make(
        "norace_interwarp-block_fence_hrf-indirect",
        {
            (0, 0): publish(BLOCK),
            (0, 1): (
                await_turn(1), load("data"), store("data", 3), fence(DEVICE),
                exch("flag", 2, DEVICE),
            ),
            (1, 0): (
                await_turn(2), load("data"), store("data", 5), fence(BLOCK),
                exch("flag", 3, DEVICE),
            ),
            (1, 1): (await_turn(3), load("data"), weak_store("dummy")),
        },
    )  # fmt: skip


def _hrd_indirect() -> MicroBenchmark:
    return _make(
        "norace_interwarp-block_fence-atom_hrd-indirect",
        {
            (0, 0): (exch("data", 1, BLOCK), fence(BLOCK), exch("flag", 1, DEVICE)),
            (0, 1): (
                await_turn(1), exch("data", 2, DEVICE), fence(DEVICE), exch("flag", 2, DEVICE),
            ),
            (1, 0): (
                await_turn(2), exch("data", 3, BLOCK), fence(BLOCK), exch("flag", 3, DEVICE),
            ),
            (1, 1): (await_turn(3), exch("data", 3, DEVICE)),
        },
    )  # fmt: skip


# Sides of several benchmarks.
_BLOCK_ONE, _BLOCK_TWO = (locked_store(value, BLOCK, BLOCK, BLOCK) for value in (1, 2))
_DEVICE_ONE, _DEVICE_TWO = (locked_store(value, DEVICE, DEVICE, DEVICE) for value in (1, 2))
_EXCH_BLOCK = (exch("data", 1, BLOCK),)
_EXCH_DEVICE = (exch("data", 1, DEVICE),)
_STORE = (store("data", 2),)
_READ = (load("data"), weak_store("dummy"))
_READ_AND_ANSWER = (await_flag(), load("data"), exch("flag", 1, DEVICE))
_LOCKED_READ = (*acquire(DEVICE, DEVICE), *_READ, *release(DEVICE, DEVICE))

_RACE_FREE = (
    _blocks("norace_interblock_atom", _EXCH_DEVICE, [exch("data", 2, DEVICE)]),
    _blocks("norace_interblock_fence_raw", publish(DEVICE), [await_flag(), *_READ]),
    _blocks("norace_interblock_lock_waw", _DEVICE_ONE, _DEVICE_TWO),
    _hrd_indirect(),
    _hrf_indirect(),
    _warps("norace_interwarp_blkatom", _EXCH_BLOCK, [exch("data", 2, BLOCK)]),
    _warps("norace_interwarp_blkfence_raw", publish(BLOCK), _READ_AND_ANSWER),
    _warps("norace_interwarp_blklock_waw", _BLOCK_ONE, _BLOCK_TWO),
    _warps("norace_interwarp_dev-blkatom", _EXCH_DEVICE, [exch("data", 2, BLOCK)]),
    _warps("norace_interwarp_dev-blklock_waw", _DEVICE_ONE, _BLOCK_TWO),
    _warps("norace_interwarp_fence_raw", publish(DEVICE), _READ_AND_ANSWER),
    _warp("norace_intrawarp_none-blkatom", *_EXCH_BLOCK, *_STORE),
    _warp("norace_intrawarp_none-blklock-no-tf_waw", *locked_store(1, BLOCK, BLOCK, None), *_STORE),
    _warp("norace_intrawarp_none-blklock_waw", *_BLOCK_ONE, *_STORE),
)

_RACY_BETWEEN_BLOCKS = (
    _blocks("race_interblock_blkatom", _EXCH_BLOCK, [exch("data", 2, BLOCK)], _ATOMIC),
    _blocks("race_interblock_blkfence_raw", publish(BLOCK), _READ_AND_ANSWER, _DEVICE_FENCE),
    _blocks("race_interblock_blklock_waw", _BLOCK_ONE, _BLOCK_TWO, _DEVICE_FENCE, _ATOMIC),
    _blocks(
        "race_interblock_fence_rtraw",
        [*_READ, fence(DEVICE), exch("flag", 1, DEVICE), *_READ],
        [await_flag(), store("data", 1)],
        _DEVICE_FENCE,
    ),
    _blocks(
        "race_interblock_lock-blkfence_waw", locked_store(1, DEVICE, BLOCK, DEVICE), _DEVICE_TWO,
        _LOCK,
    ),
    _blocks(
        "race_interblock_lock-no-stf_waw", locked_store(1, DEVICE, None, DEVICE), _DEVICE_TWO,
        _LOCK,
    ),
    _blocks(
        "race_interblock_lock-no-tf_waw", locked_store(1, DEVICE, DEVICE, None),
        locked_store(2, DEVICE, DEVICE, None), _DEVICE_FENCE,
    ),
    _blocks("race_interblock_none-atom_waw", _EXCH_DEVICE, _STORE, _DEVICE_FENCE),
    _blocks(
        "race_interblock_none-lock_rtraw", [*_LOCKED_READ, store("data", 1)], _LOCKED_READ,
        # Both blocks store to the same plain `dummy`.
        _DEVICE_FENCE, _LOCK, _WEAK,
    ),
    _blocks("race_interblock_none-lock_waw", _DEVICE_ONE, _STORE, _DEVICE_FENCE, _LOCK),
)  # fmt: skip

_RACY_BETWEEN_WARPS = (
    _warps(
        "race_interwarp_blklock-no-stf_waw", locked_store(1, BLOCK, None, BLOCK), _BLOCK_TWO, _LOCK
    ),
    _warps(
        "race_interwarp_blklock-no-tf_waw", locked_store(1, BLOCK, BLOCK, None),
        locked_store(2, BLOCK, BLOCK, None), _BLOCK_FENCE,
    ),
    _warps(
        "race_interwarp_dev-blklock-no-stf_waw", locked_store(1, DEVICE, None, DEVICE), _BLOCK_TWO,
        _LOCK,
    ),
    _warps(
        "race_interwarp_dev-blklock-no-tf_waw", locked_store(1, DEVICE, DEVICE, None),
        locked_store(2, BLOCK, BLOCK, None), _BLOCK_FENCE,
    ),
    _warps("race_interwarp_none-atom_waw", _EXCH_DEVICE, _STORE, _BLOCK_FENCE),
    _warps("race_interwarp_none-blkatom_waw", _EXCH_BLOCK, _STORE, _BLOCK_FENCE),
    _warps(
        "race_interwarp_none-blklock_waw", locked_store(1, BLOCK, DEVICE, DEVICE), _STORE,
        _BLOCK_FENCE, _LOCK,
    ),
    _warps("race_interwarp_none-lock_waw", _DEVICE_ONE, _STORE, _BLOCK_FENCE, _LOCK),
)  # fmt: skip

#: All micro-benchmarks by name: the race-free, then the racy.
MICRO_BENCHMARKS: dict[str, MicroBenchmark] = {
    benchmark.name: benchmark
    for benchmark in (*_RACE_FREE, *_RACY_BETWEEN_BLOCKS, *_RACY_BETWEEN_WARPS)
}
