"""Traces with more unordered accesses to a location than the judge keeps."""

from collections.abc import Collection

from racetrap.golden_model.events import MemoryOrder
from racetrap.golden_model.trace import Trace
from tests.support.oracle.programs import ALL, DEVICE, Program


def many_readers(missed: Collection[int]) -> Trace:
    """Four warps read a word, and but for some are ordered before a write by another block."""
    program = Program(warps=4)
    for warp in range(4):
        program.load((0, warp), 0, ALL, pc=0x50, order=MemoryOrder.RELAXED)
    return _then_a_write(program, [(0, warp) for warp in range(4) if warp not in missed], (1, 0))


def many_blocks(missed: Collection[int], words: int = 1) -> Trace:
    """The same of nine blocks that each read some words once, by plain loads."""
    program = Program(blocks=10)
    for block in range(9):
        program.weak_load((block, 0), 0, (1 << words) - 1, stride=4, pc=0x50)
    before = [(block, 0) for block in range(9) if block not in missed]
    return _then_a_write(program, before, (9, 0), words)


def _then_a_write(
    program: Program, before: list[tuple[int, int]], where: tuple[int, int], words: int = 1
) -> Trace:
    for each in before:
        program.atomic(each, 0x80, lanes=ALL, order=MemoryOrder.RELEASE)
    program.load(where, 0x80, lanes=(1 << words) - 1, order=MemoryOrder.ACQUIRE)
    program.weak_store(where, 0, (1 << words) - 1, stride=4)
    return program.trace


def read_by_all() -> Trace:
    """Blocks read two words, one by plain loads and one by strong ones, and nobody writes."""
    program = Program(blocks=40, warps=1)
    for block in range(40):
        program.weak_load((block, 0), 0, ALL, pc=0x50)
        for pc in (0x60, 0x70):
            program.load((block, 0), 0x80, ALL, pc=pc, order=MemoryOrder.RELAXED)
    return program.trace


def behind_a_barrier() -> Trace:
    """Warps of a block read words that one writes behind a barrier."""
    program = Program(warps=16)
    for warp in range(16):
        program.weak_load((0, warp), 0, ALL, pc=0x50)
        program.load((0, warp), 0x80, ALL, pc=0x60, order=MemoryOrder.RELAXED)
    program.barrier(0)
    program.weak_store((0, 0), 0)
    program.weak_store((0, 0), 0x80)
    return program.trace


def last_block() -> Trace:
    """Blocks count themselves, as in a reduction, and the last clears the counter."""
    program = Program(blocks=40, warps=1)
    for block in range(40):
        for pc in (0x50, 0x60):
            program.fence((block, 0), DEVICE)
            program.atomic((block, 0), 0x80, pc=pc)
    program.fence((39, 0), DEVICE)
    program.weak_store((39, 0), 0x80)
    return program.trace


def under_a_lock() -> Trace:
    """Warps of a block write a word one after the other by volatile stores."""
    program = Program(blocks=1, warps=40)
    for warp in range(40):
        program.atomic((0, warp), 0x80, pc=0x50, order=MemoryOrder.ACQUIRE)
        program.store((0, warp), 0, pc=0x60)
        program.atomic((0, warp), 0x80, pc=0x70, order=MemoryOrder.RELEASE)
    return program.trace


def read_and_then_raced_with() -> Trace:
    """Blocks read a word that another writes, ordered behind none."""
    program = Program(blocks=20, warps=1)
    for block in range(19):
        program.weak_load((block, 0), 0, pc=0x50)
    program.weak_store((19, 0), 0)
    return program.trace
