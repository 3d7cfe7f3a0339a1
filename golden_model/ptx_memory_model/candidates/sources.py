"""Writes that each read may take its value from, byte by byte.

A read that races with a write may return bytes of several writes.  Bytes that are equal in all
writes need no separate source: it would decide nothing that the other bytes do not.

Ref: PTX ISA 9.0, Sections 8.10.3 (Single-Copy Atomicity) and 8.10.6 (Causality).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, product
from typing import NamedTuple

from racetrap.golden_model.ptx_memory_model.candidates.runs import Run
from racetrap.golden_model.ptx_memory_model.candidates.values import (
    Result,
    Value,
    evaluate,
    results_in,
)
from racetrap.golden_model.ptx_memory_model.events import INITIAL_THREAD
from racetrap.golden_model.ptx_memory_model.relation import Relation, bits_of

#: Maximum values to distinguish; more count as all values.
_MANY = 1024


class Piece(NamedTuple):
    """Bytes of a read that come from one write.

    Parameters
    ----------
    read : int
        The read.
    size : int
        Number of bytes; they follow those of the piece before.
    choices : tuple of int
        Possible source writes.
    """

    read: int
    size: int
    choices: tuple[int, ...]


def pieces_of(run: Run) -> list[Piece]:
    """Pieces of all reads, each with all writes to its bytes."""
    structure = run.structure
    varying = _varying_bytes(run)
    pieces: list[Piece] = []
    for read in bits_of(structure.reads):
        pieces += _pieces_of_read(run, read, varying)
    return pieces


def _pieces_of_read(run: Run, read: int, varying: set[int]) -> list[Piece]:
    location = run.structure.events[read].location
    assert location is not None
    split = varying if _may_tear(run, read) else set()
    pieces: list[Piece] = []
    seen_varying = False
    for address in location.bytes:
        writers = run.structure.writers[address]
        choices = tuple(write for write in bits_of(writers) if write != read)
        joins = bool(pieces) and pieces[-1].choices == choices
        if joins and not (address in split and seen_varying):
            pieces[-1] = pieces[-1]._replace(size=pieces[-1].size + 1)
            seen_varying |= address in split
        else:
            pieces.append(Piece(read, 1, choices))
            seen_varying = address in split
    return pieces


def _may_tear(run: Run, read: int) -> bool:
    """Whether a write may be read in part: it is not morally strong with the read, or two writes
    are not morally strong with each other and may be unordered in coherence order."""
    structure = run.structure
    strong = structure.morally_strong
    events = structure.events
    writes = [
        other
        for other in bits_of(structure.overlap.rows[read])
        if events[other].writes and events[other].thread != INITIAL_THREAD
    ]
    return any((one, other) not in strong for one, other in combinations([read, *writes], 2))


def _varying_bytes(run: Run) -> set[int]:
    """Addresses at which writes may write different bytes."""
    values: dict[int, set[int] | None] = {write: set() for write in bits_of(run.structure.writes)}
    held: dict[int, set[int] | None] = {}
    # A value passes through each write at most once, or it would depend on itself.
    for _ in values:
        before = dict(held)
        for write in values:
            values[write] = _possible(run, run.values[write], held)
            _hold(run, write, values[write], held)
        if held == before:
            break
    return {address for address, kept in held.items() if kept is None or len(kept) > 1}


def _hold(run: Run, write: int, values: set[int] | None, held: dict[int, set[int] | None]) -> None:
    location = run.structure.events[write].location
    assert location is not None
    for offset, address in enumerate(location.bytes):
        kept = held.get(address, set())
        if values is None or kept is None:
            held[address] = None
        else:
            held[address] = kept | {value >> 8 * offset & 0xFF for value in values}


def _possible(run: Run, value: Value, held: Mapping[int, set[int] | None]) -> set[int] | None:
    """Possible numbers of a value, or None for too many."""
    results = sorted(results_in(value))
    choices = [_returned(run, result, held) for result in results]
    count = 1
    for choice in choices:
        if choice is None:
            return None
        count *= len(choice)
    if count > _MANY:
        return None
    return {
        evaluate(value, dict(zip(results, numbers, strict=True)).__getitem__)
        for numbers in product(*(choice or () for choice in choices))
    }


def _returned(run: Run, result: Result, held: Mapping[int, set[int] | None]) -> set[int] | None:
    number = run.numbers[result]
    if number in run.reductions:
        return set(range(len(run.reductions[number][1]) + 1))
    location = run.structure.events[number].location
    assert location is not None
    numbers = {0}
    for offset, address in enumerate(location.bytes):
        kept = held.get(address, set())
        if kept is None or len(numbers) * len(kept) > _MANY:
            return None
        numbers = {known | byte << 8 * offset for known in numbers for byte in kept}
    return numbers


def without_impossible(run: Run, pieces: list[Piece]) -> list[Piece]:
    """The pieces without the writes that Causality and Coherence exclude in every execution: those
    that follow the read, and those hidden by a write in between."""
    structure = run.structure
    nothing = Relation.empty(len(structure.events))
    order = structure.preserved(structure.base_causality(nothing))
    return [
        piece._replace(
            choices=tuple(
                write
                for write in piece.choices
                if (piece.read, write) not in order
                and not any(
                    (write, later) in order and (later, piece.read) in order
                    for later in piece.choices
                    if later != write
                )
            )
        )
        for piece in pieces
    ]
