"""Programs that are free of races by construction, for property tests of the detector.

``python -m racetrap.evaluation.scord.race_free_programs lock|phase [--programs N] [--seed N]``
counts how many of them are reported.

Ref: ScoRD (ISCA'20) Sections III and IV-A.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

import click

from racetrap.golden_model.events import AtomicOp, Event, EventKind, Lane, Scope
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.scord import Scord

_PARAMS = ScordParams(ratio=1)
_REGION = Region(data_base=0, size_log2=12)
_LOCK_WORDS = range(64, 1024)


@dataclass(frozen=True)
class _Warp:
    """A warp, and the events it can make."""

    sm: int
    slot: int
    warp: int

    @property
    def block(self) -> tuple[int, int]:
        return self.sm, self.slot

    def access(self, kind: EventKind, word: int) -> Event:
        """Volatile load or store."""
        lanes = (Lane(0, 4 * word),)
        return Event(
            kind, self.sm, self.slot, self.warp, Scope.DEVICE, strong=True, size=4, lanes=lanes
        )

    def fence(self, scope: Scope) -> Event:
        return Event(EventKind.FENCE, self.sm, self.slot, self.warp, scope, mask=1)

    def atomic(self, op: AtomicOp, scope: Scope, lane: Lane) -> Event:
        return Event(
            EventKind.ATOMIC, self.sm, self.slot, self.warp, scope, True, op, size=4, lanes=(lane,)
        )


#: Events that a warp, or all users of a variable, make one after another.
_Thread = Iterator[Event]


def _grid(rng: Random) -> list[_Warp]:
    """1 to 3 blocks of 1 to 3 warps, on one SM or on several."""
    blocks, warps = rng.randint(1, 3), rng.randint(1, 3)
    if rng.random() < 0.5:
        return [_Warp(0, b, b * warps + w) for b in range(blocks) for w in range(warps)]
    return [_Warp(b, 0, w) for b in range(blocks) for w in range(warps)]


def _accesses(rng: Random, warp: _Warp, word: int, count: int) -> Iterator[Event]:
    for _ in range(count):
        yield warp.access(rng.choice((EventKind.LOAD, EventKind.STORE)), word)


def _interleave(rng: Random, threads: list[_Thread]) -> Iterator[Event]:
    """Random schedule of threads until all have ended."""
    yield Event(EventKind.KERNEL_BEGIN)
    while threads:
        thread = rng.choice(threads)
        event = next(thread, None)
        if event is None:
            threads.remove(thread)
        else:
            yield event


def lock_program(seed: int) -> Iterator[Event]:
    """Every variable is guarded by a lock of its own, with fences of the lock's scope.

    A variable that one block alone uses may have a block-scope lock.
    """
    rng = Random(seed)
    warps = _grid(rng)
    locks = rng.sample(_LOCK_WORDS, rng.randint(1, 4))
    owners = [rng.choice([None, *{warp.block for warp in warps}]) for _ in locks]
    held: set[int] = set()

    def sections(warp: _Warp) -> _Thread:
        usable = [i for i, block in enumerate(owners) if block in (None, warp.block)]
        for _ in range(rng.randint(1, 4) if usable else 0):
            variable = rng.choice(usable)
            scope = Scope.DEVICE if owners[variable] is None else Scope.BLOCK
            address = 4 * locks[variable]
            while variable in held:
                yield warp.atomic(AtomicOp.CAS, scope, Lane(0, address, 1, 0, False))
            held.add(variable)
            yield warp.atomic(AtomicOp.CAS, scope, Lane(0, address, 1, 0, True))
            yield warp.fence(scope)
            yield from _accesses(rng, warp, variable, rng.randint(1, 4))
            yield warp.fence(scope)
            held.remove(variable)
            yield warp.atomic(AtomicOp.EXCH, scope, Lane(0, address))

    return _interleave(rng, [sections(warp) for warp in warps])


def phase_program(seed: int) -> Iterator[Event]:
    """Every variable passes through phases: one exclusive owner, or a group of readers.

    Between two phases every member of the old one fences: at device scope, or (half of the
    times) at block scope when both phases lie in one block.
    """
    rng = Random(seed)
    warps = _grid(rng)

    def phases(word: int) -> _Thread:
        groups = [_group(rng, warps) for _ in range(rng.randint(2, 5))]
        for (members, readers), (successors, _) in zip(
            groups, groups[1:] + groups[:1], strict=True
        ):
            one_block = len({warp.block for warp in (*members, *successors)}) == 1
            for warp in members:
                if readers:
                    yield warp.access(EventKind.LOAD, word)
                else:
                    yield from _accesses(rng, warp, word, rng.randint(1, 3))
            for warp in members:
                block_scope = one_block and rng.random() < 0.5
                yield warp.fence(Scope.BLOCK if block_scope else Scope.DEVICE)

    return _interleave(rng, [phases(word) for word in range(rng.randint(1, 3))])


def _group(rng: Random, warps: list[_Warp]) -> tuple[list[_Warp], bool]:
    """Members of a phase, and whether they only read."""
    readers = rng.random() < 0.5
    return rng.sample(warps, rng.randint(1, len(warps)) if readers else 1), readers


#: Kinds of programs by name.
KINDS: dict[str, Callable[[int], Iterator[Event]]] = {
    "lock": lock_program,
    "phase": phase_program,
}


def reported(kind: str, programs: int, first_seed: int = 0) -> list[int]:
    """Seeds of the programs in which the golden model reports a race, out of ``programs``."""
    make = KINDS[kind]
    detector = Scord(_PARAMS, _REGION)
    seeds = []
    for seed in range(first_seed, first_seed + programs):
        before = len(detector.races)
        for event in make(seed):
            detector.run(event)
        if len(detector.races) > before:
            seeds.append(seed)
    return seeds


@click.command()
@click.argument("kind", type=click.Choice(list(KINDS)))
@click.option("--programs", default=3000, show_default=True, help="Programs to run.")
@click.option("--seed", default=0, show_default=True, help="Seed of the first; then consecutive.")
def main(kind: str, programs: int, seed: int) -> None:
    """Count the programs of a race-free KIND in which a race is reported."""
    seeds = reported(kind, programs, seed)
    click.echo(f"{kind}: {len(seeds)} of {programs} reported, seeds {seeds[:10]}")


if __name__ == "__main__":
    main()
