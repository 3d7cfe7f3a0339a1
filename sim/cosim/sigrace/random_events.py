"""Constrained-random events of all contexts, for volume and for corner cases.

They follow no program, but timestamps mostly grow as for synchronising threads, so that blocks
precede, follow and overlap each other.

Ref: SigRace (ISCA'09) Sections 3 and 4.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from racetrap.golden_model.sigrace.environment import OWN, Command, CoreCommand, Remap, Slot
from racetrap.golden_model.sigrace.packets import CoreEvent, CoreOp, Mode
from racetrap.golden_model.sigrace.params import ADDRESS_BITS, WORD_BITS, SigraceParams
from racetrap.golden_model.sigrace.signature import signature_of_granules
from racetrap.golden_model.sigrace.timestamp import generate_timestamp
from racetrap.sim.cosim.sigrace.knobs import Knobs

_UNDEFINED_OP = 14
_PRIVATE_PLACES = 0.2  # of the places, for each thread
_STORES = 0.4
_LEARNS = 0.7


class _Generator:
    """One random run; see :func:`random_events`."""

    def __init__(self, params: SigraceParams, knobs: Knobs, seed: int) -> None:
        self._rng = rng = Random(seed)
        self._params = params
        self._knobs = knobs
        self._slots: list[Slot] = [
            (core, context) for context in range(params.contexts) for core in range(params.cores)
        ]
        self._threads = dict(zip(self._slots, range(params.threads), strict=False))
        self._timestamps = [[0] * params.threads for _ in range(params.threads)]
        self._places = [rng.getrandbits(ADDRESS_BITS) for _ in range(knobs.places)]
        self._rates: list[tuple[float, Callable[[Slot], Iterator[Command]]]] = [
            (knobs.plain, self._plain),
            (knobs.sync, self._sync),
            (knobs.odd_time, self._odd_time),
            (knobs.collect, self._collect),
            (knobs.migrate, self._migrate),
            (knobs.rogue, self._rogue),
            (knobs.analysis, self._analysis),
            (knobs.reset, self._reset),
        ]
        if (total := sum(rate for rate, _ in self._rates)) > 1:
            raise ValueError(f"Sum of the rates must be at most 1, not {total:g}")

    def start(self) -> Iterator[Command]:
        """Put a thread on each context while there are threads."""
        for slot in self._slots:
            yield self._command(slot, CoreOp.RESET)
            if slot in self._threads:
                yield from self._enter(slot, self._threads[slot])

    def next(self) -> Iterator[Command]:
        """Commands of one drawn action."""
        slot = self._rng.choice(self._slots)
        draw = self._rng.random()
        for rate, action in self._rates:
            if draw < rate:
                return action(slot)
            draw -= rate
        return self._access(slot)

    def end(self) -> Iterator[Command]:
        """Send all blocks."""
        for slot in self._slots:
            yield self._command(slot, CoreOp.SWITCH_OUT)

    def _command(self, slot: Slot, op: int, **fields: int) -> CoreCommand:
        return CoreCommand(*slot, CoreEvent(op, **fields), OWN)

    def _count(self) -> int:
        return self._rng.randint(0, self._knobs.instructions)

    def _access(self, slot: Slot) -> Iterator[Command]:
        rng, knobs = self._rng, self._knobs
        if rng.random() < knobs.scatter:
            address = rng.getrandbits(ADDRESS_BITS)
        else:
            address = rng.choice(self._places) + 4 * rng.randrange(knobs.words) + rng.randrange(4)
            if rng.random() < _PRIVATE_PLACES:
                address += self._threads.get(slot, 0) << ADDRESS_BITS - 8
        op = CoreOp.STORE if rng.random() < _STORES else CoreOp.LOAD
        yield self._command(
            slot,
            op,
            data=address % (1 << ADDRESS_BITS),
            size=rng.randint(1, knobs.widest),
            instructions=self._count(),
            pc=rng.randrange(1 << min(self._params.pc_bits, 12)),
        )

    def _plain(self, slot: Slot) -> Iterator[Command]:
        op = CoreOp.INSTRUCTIONS if self._rng.random() < 0.99 else _UNDEFINED_OP
        yield self._command(slot, op, instructions=self._count())

    def _sync(self, slot: Slot) -> Iterator[Command]:
        rng = self._rng
        yield self._command(slot, CoreOp.SYNC_REACHED)
        thread = self._threads.get(slot)
        if thread is None:
            return
        own = self._timestamps[thread]
        own[thread] = min(own[thread] + 1, self._params.max_counter)
        if rng.random() < _LEARNS:
            merged = generate_timestamp(own, rng.choice(self._timestamps), thread)
            for index, counter in enumerate(merged):
                if counter != own[index]:
                    yield self._command(slot, CoreOp.TS_WRITE, index=index, data=counter)
            own[:] = merged

    def _odd_time(self, slot: Slot) -> Iterator[Command]:
        rng, params = self._rng, self._params
        most = params.max_counter
        value = rng.choice((0, 1, most - 2, most, rng.randint(0, most), rng.getrandbits(32)))
        index = rng.randint(0, params.threads)  # the last is out of range
        thread = self._threads.get(slot)
        if thread is not None and index < params.threads:
            self._timestamps[thread][index] = value & most
        count = self._count() if rng.random() < 0.5 else 0
        yield self._command(slot, CoreOp.TS_WRITE, index=index, data=value, instructions=count)

    def _collect(self, slot: Slot) -> Iterator[Command]:
        yield self._command(slot, CoreOp.COLLECT_OFF, instructions=self._count())
        for _ in range(self._rng.randrange(5)):
            yield from self._access(slot)
        yield self._command(slot, CoreOp.COLLECT_ON)

    def _leave(self, slot: Slot) -> Iterator[Command]:
        """Take a thread off its context, as by the operating system."""
        yield self._command(slot, CoreOp.SWITCH_OUT)
        yield Remap(*slot, None)
        self._threads.pop(slot, None)

    def _enter(self, slot: Slot, thread: int) -> Iterator[Command]:
        """Put a thread on a context, as by the operating system."""
        self._threads[slot] = thread
        yield Remap(*slot, thread)
        yield self._command(slot, CoreOp.SWITCH_IN, index=thread)
        for index, counter in enumerate(self._timestamps[thread]):
            yield self._command(slot, CoreOp.TS_WRITE, index=index, data=counter)
        yield self._command(slot, CoreOp.COLLECT_ON)

    def _migrate(self, slot: Slot) -> Iterator[Command]:
        """Swap the threads of two contexts, or bring in a waiting thread."""
        rng = self._rng
        other = rng.choice(self._slots)
        resting = [
            thread for thread in range(self._params.threads) if thread not in self._threads.values()
        ]
        mine, theirs = self._threads.get(slot), self._threads.get(other)
        if resting and rng.random() < 0.5:
            theirs = rng.choice(resting)
            other = slot
        yield from self._leave(slot)
        if other != slot:
            yield from self._leave(other)
            if mine is not None:
                yield from self._enter(other, mine)
        if theirs is not None:
            yield from self._enter(slot, theirs)

    def _rogue(self, slot: Slot) -> Iterator[Command]:
        """Do something that no operating system should do; messages are dropped because of it."""
        if self._rng.random() < 0.5:
            index = self._rng.randint(0, self._params.threads)
            yield self._command(slot, CoreOp.SWITCH_IN, index=index)
        else:
            yield Remap(*slot, None)
        for _ in range(3):
            yield from self._access(slot)
        yield self._command(slot, CoreOp.SYNC_REACHED)
        if (thread := self._threads.get(slot)) is not None:
            yield from self._enter(slot, thread)

    def _analysis(self, slot: Slot) -> Iterator[Command]:
        rng, params = self._rng, self._params
        mode = rng.choice((Mode.ANALYSIS, Mode.ANALYSIS, Mode.NORMAL, Mode.REEXECUTION, 3))
        yield self._command(slot, CoreOp.MODE, data=mode | (rng.random() < 0.8) << 2)
        index, value = rng.randint(0, params.threads), rng.getrandbits(WORD_BITS)
        yield self._command(slot, CoreOp.TRT_WRITE, index=index, data=value)
        granules = [
            (rng.choice(self._places) + 4 * rng.randrange(8)) % (1 << ADDRESS_BITS)
            for _ in range(rng.randint(0, 8))
        ]
        signature = signature_of_granules(params, granules)
        for word in range(params.signature_words + 1):
            data = signature >> word * WORD_BITS & (1 << WORD_BITS) - 1
            if word >= params.signature_words or rng.random() < 0.02:
                data = rng.getrandbits(WORD_BITS)
            yield self._command(slot, CoreOp.CONFLICT_WRITE, index=word, data=data)

    def _reset(self, slot: Slot) -> Iterator[Command]:
        """Start a program on the context, with its current thread."""
        yield self._command(slot, CoreOp.RESET)
        thread = self._threads.get(slot)
        if thread is not None:
            self._timestamps[thread] = [0] * self._params.threads
            yield self._command(slot, CoreOp.SWITCH_IN, index=thread)
        yield self._command(slot, CoreOp.COLLECT_ON)


def random_events(
    params: SigraceParams, knobs: Knobs, seed: int, actions: int
) -> Iterator[Command]:
    """Commands for all contexts, from their first event to the end of all blocks.

    Parameters
    ----------
    params : SigraceParams
        The machine.
    knobs : Knobs
        Mix of the events.
    seed : int
        Seed; equal seeds give equal commands.
    actions : int
        Actions that are drawn; most are one event.
    """
    generator = _Generator(params, knobs, seed)
    yield from generator.start()
    for _ in range(actions):
        yield from generator.next()
    yield from generator.end()
