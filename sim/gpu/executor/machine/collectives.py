"""Collective operations of the lanes of a warp, or of the warps of a block.

Functions take the warp, whose active lanes are those that take part, and rows of values.

Ref: PTX ISA 9.0, Sections 9.7.9.6 (shfl) and 9.7.13 (bar, vote, match, redux).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from racetrap.golden_model.events import WARP_SIZE, lanes_of
from racetrap.golden_model.ptx_memory_model.events import check_barrier
from racetrap.sim.gpu.executor.machine.lanes import LANE_IDS, Parts, mask_of, row_of

if TYPE_CHECKING:
    from racetrap.sim.gpu.executor.machine.program import CallSite
    from racetrap.sim.gpu.executor.machine.warp import Warp


Row = np.ndarray


def _full(value: int, dtype: str = "u4") -> Row:
    return np.full(WARP_SIZE, value, dtype)


def first(warp: Warp, row: Row) -> int:
    """Value of the first active lane."""
    return int(row[lanes_of(warp.mask)[0]])


def barrier_number(warp: Warp, mask: int, place: str, row: Row) -> int:
    """Number of the barrier that lanes arrive at, from a register.

    Raises
    ------
    KernelFault
        If there is none of that number, or the lanes name different ones.
    """
    number = _uniform(warp, mask, place, row)
    _check_barrier(warp, mask, place, number, None)
    return number


def barrier_threads(warp: Warp, mask: int, place: str, row: Row) -> int:
    """As ``barrier_number``, of the number of threads that it waits for."""
    threads = _uniform(warp, mask, place, row)
    _check_barrier(warp, mask, place, 0, threads)
    return threads


def _check_barrier(warp: Warp, mask: int, place: str, number: int, threads: int | None) -> None:
    try:
        check_barrier(number, threads)
    except ValueError as error:
        raise warp.trapped(place, str(error), mask) from None


def _uniform(warp: Warp, mask: int, place: str, row: Row) -> int:
    values = list(dict.fromkeys(row[row_of(mask)].tolist()))
    if len(values) > 1:
        sentence = (
            f"Operand of a barrier differs between lanes of a warp: {values[0]} and {values[1]}"
        )
        raise warp.trapped(place, sentence, mask)
    return int(values[0])


def parts(warp: Warp, members: Row) -> Parts:
    """The active lanes by the mask of members that each names."""
    found: dict[int, int] = {}
    for lane in lanes_of(warp.mask):
        mask = int(members[lane])
        found[mask] = found.get(mask, 0) | 1 << lane
    return tuple(found.items())


def _by_part(among: Parts, result: Callable[[int], Row]) -> Row:
    """What the members of each part have as result, in the lanes of that part."""
    (members, _), *others = among
    row = result(members)
    for members, lanes in others:
        row = np.where(row_of(lanes), result(members), row)
    return row


def local_address(warp: Warp, offset: int) -> Row:
    """Address of a local variable of the function that runs."""
    return _full(warp.frame.local_base + offset, "i8")


def active_mask(warp: Warp) -> Row:
    """``activemask``: the lanes that run."""
    return _full(warp.mask)


def branch_indexed(warp: Warp, index: Row, targets: tuple[int, ...], point: int, pc: int) -> None:
    """``brx.idx``: each lane goes to the target that its index picks; the first target first.

    Ways that diverge are branches within one another.
    """
    chosen = np.minimum(index, len(targets) - 1)
    ways: dict[int, int] = {}
    for lane in lanes_of(warp.mask):
        target = targets[int(chosen[lane])]
        ways[target] = ways.get(target, 0) | 1 << lane
    (start, _), *others = ways.items()
    warp.pc = start
    for target, mask in reversed(others):
        warp.diverge(mask, target, start, point, pc)


def call_indirect(
    warp: Warp, addresses: Row, sites: Mapping[int, CallSite], own: int, following: int, pc: int,
    place: str,
) -> None:  # fmt: skip
    """Call of the function whose address each lane has.

    If they differ, the lanes diverge: each function has its turn at the same instruction, and all
    reconverge behind it.
    """
    target = first(warp, addresses)
    others = warp.mask & ~mask_of(addresses == target)
    if others:
        warp.diverge(others, own, own, following, pc)
    elif target in sites:
        warp.call(sites[target])
    else:
        raise warp.trapped(
            place, f"Called address {target:#x} is not that of a function of this type",
            warp.mask,
        )  # fmt: skip


#: ``vote``: from the lanes that take part and those whose predicate holds to a number.
VOTES: dict[str, Callable[[int, int], int]] = {
    "all": lambda members, true: members == true,
    "any": lambda members, true: bool(true),
    "uni": lambda members, true: true in (0, members),
    "ballot": lambda members, true: true,
}


def vote(warp: Warp, name: str, predicate: Row, among: Parts) -> Row:
    """``vote``: what the members of each lane's part decide."""
    true = mask_of(predicate) & warp.mask
    return _by_part(
        among, lambda members: _full(int(VOTES[name](warp.mask & members, true & members)))
    )


def shuffle(mode: str, value: Row, b: Row, c: Row) -> tuple[Row, Row]:
    """Value of another lane, and whether that lane was in bounds (else the own value)."""
    lane = LANE_IDS
    operand = (b & 31).astype(np.int64)
    clamp, segment = (c & 31).astype(np.int64), (c >> np.uint32(8) & 31).astype(np.int64)
    high = lane & segment | clamp & ~segment
    low = lane & segment
    if mode == "up":
        source = lane - operand
        inside = source >= high
    elif mode == "idx":
        source = low | operand & ~segment
        inside = source <= high
    else:
        source = lane + operand if mode == "down" else lane ^ operand
        inside = source <= high
    return value[np.where(inside, source, lane)], inside


def match_any(warp: Warp, value: Row, among: Parts) -> Row:
    """For each lane the members that have the same value."""

    def match(members: int) -> Row:
        equal = (value[:, None] == value[None, :]) & row_of(warp.mask & members)
        return (equal << LANE_IDS).sum(axis=1).astype(np.uint32)

    return _by_part(among, match)


def match_all(warp: Warp, value: Row, among: Parts) -> tuple[Row, Row]:
    """The members, if all have the same value (else none), and whether they have."""

    def match(members: int) -> Row:
        taking = value[row_of(warp.mask & members)]
        return _full(warp.mask & members if (taking == taking[0]).all() else 0)

    row = _by_part(among, match)
    return row, row != 0


#: ``redux``: how the values of all lanes become one.
REDUCTIONS: dict[str, np.ufunc] = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def reduce_lanes(warp: Warp, name: str, value: Row, among: Parts) -> Row:
    """``redux``: one value made of all members, in every lane of a part."""

    def reduce(members: int) -> Row:
        taking = value[row_of(warp.mask & members)]
        return np.full(WARP_SIZE, REDUCTIONS[name].reduce(taking, dtype=value.dtype), value.dtype)

    return _by_part(among, reduce)


# Barriers of the block; the warp's program counter is behind the instruction already


def barrier(warp: Warp, mask: int, pc: int, number: int, threads: int | None) -> int | None:
    """``bar.sync``."""
    warp.block.arrive(warp, mask, number, threads, True, pc)
    warp.block.try_open(number, pc)
    return warp.proceed()


def barrier_arrive(warp: Warp, mask: int, pc: int, number: int, threads: int | None) -> None:
    """``bar.arrive``: to be counted, but not to wait."""
    warp.block.arrive(warp, mask, number, threads, False, pc)
    warp.block.try_open(number, pc)


def barrier_reduce(
    warp: Warp, mask: int, pc: int, number: int, threads: int | None, name: str, predicate: Row,
    result: Row,
) -> int | None:  # fmt: skip
    """``bar.red``: all threads get the reduction of the predicates of all."""
    true = mask & mask_of(predicate)
    reached = warp.block.arrive(warp, mask, number, threads, True, pc)
    reached.threads += mask.bit_count()
    reached.true += true.bit_count()

    def deliver(count: int, holding: int) -> None:
        value = {"popc": holding, "and": holding == count, "or": holding > 0}[name]
        result[row_of(mask)] = value

    reached.deliveries.append(deliver)
    warp.block.try_open(number, pc)
    return warp.proceed()
