"""Pairs of accesses that need an order, against a walk with a last write and its readers."""

from collections import defaultdict
from random import Random

import numpy as np
import pytest

from racetrap.golden_model.barracuda import shadow
from racetrap.golden_model.barracuda.kernel import Kernel, kernels_of
from racetrap.golden_model.barracuda.shadow import conflicts, same_instruction_conflicts
from racetrap.golden_model.events import EventKind, lanes_of
from racetrap.golden_model.trace import Trace
from tests.support.oracle.programs import Program
from tests.support.oracle.random_traces import RandomRun


def _bytes(kernel: Kernel, row: int) -> set[tuple[int, int]]:
    """Bytes that an access touches, with the thread that does."""
    addresses = kernel.lanes[kernel.lane_slice(row)]["address"].tolist()
    lanes = lanes_of(kernel.mask(row))
    return {
        (kernel.space_base(row) + address + byte, 32 * int(kernel.warp[row]) + lane)
        for lane, address in zip(lanes, addresses, strict=True)
        for byte in range(int(kernel.events["size"][row]))
    }


def _walk(kernel: Kernel) -> set[tuple[int, int]]:
    """Pairs by the book: the last write, and the reads since."""
    diverged = set(kernel.warp[kernel.kind == EventKind.IF].tolist())
    threads: dict[int, set[int]] = defaultdict(set)
    write: dict[int, int] = {}
    reads: dict[int, set[int]] = defaultdict(set)
    pairs: set[tuple[int, int]] = set()
    places = {row: _bytes(kernel, row) for row in kernel.accesses.tolist()}
    for touched in places.values():
        for byte, thread in touched:
            threads[byte].add(thread)
    for row, touched in places.items():
        for byte in {byte for byte, _ in touched if len(threads[byte]) > 1}:
            if byte in write:
                pairs.add((write[byte], row))
            if kernel.kind[row] == EventKind.LOAD:
                reads[byte].add(row)
            else:
                pairs |= {(read, row) for read in reads.pop(byte, ())}
                write[byte] = row
    warp = kernel.warp
    return {
        (one, other)
        for one, other in pairs
        if warp[one] != warp[other] or int(warp[one]) in diverged
    }


def _none(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.zeros(len(first), dtype=bool)


def _traces() -> list[Trace]:
    return [RandomRun(Random(seed), 60).trace() for seed in range(30)]


@pytest.mark.parametrize(("rows", "part"), [(1 << 16, 1 << 21), (7, 16), (64, 1)])
def test_pairs_are_those_of_a_walk(monkeypatch, rows, part):
    monkeypatch.setattr(shadow, "_ROWS", rows)
    monkeypatch.setattr(shadow, "_PART", part)
    for seed, trace in enumerate(_traces()):
        for kernel in kernels_of(trace):
            pairs = conflicts(kernel, kernel.accesses, _none)
            found = set(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))
            assert found == _walk(kernel), f"seed {seed}"
            assert (np.diff(pairs.second) >= 0).all()


def test_exempt_pairs_are_left_out():
    program = Program()
    program.atomic((0, 0), 0)
    program.atomic((1, 0), 0)
    program.load((0, 1), 0)
    (kernel,) = kernels_of(program.trace)
    pairs = conflicts(
        kernel, kernel.accesses, lambda first, second: kernel.kind[second] == EventKind.ATOMIC
    )
    assert kernel.kind[pairs.second].tolist() == [EventKind.LOAD]


def test_kernel_without_accesses_has_no_pairs():
    (kernel,) = kernels_of(Program().trace)
    assert len(conflicts(kernel, kernel.accesses, _none).first) == 0


@pytest.mark.parametrize(
    ("fields", "conflict"),
    [
        ({"lanes": 0b11, "values": (1, 2)}, True),
        ({"lanes": 0b11, "values": (1, 1)}, False),
        ({"lanes": 0b11, "values": (1, 2), "stride": 4}, False),
        ({"lanes": 0b101, "values": (1, 2)}, True),
        ({"lanes": 0b1}, False),
    ],
)
def test_different_values_of_one_store(fields, conflict):
    program = Program()
    program.store((0, 0), 0x100, **fields)
    (kernel,) = kernels_of(program.trace)
    assert len(same_instruction_conflicts(kernel, kernel.accesses)) == conflict


def test_addresses_far_apart_and_high():
    program = Program()
    for where in ((0, 0), (1, 0)):
        program.store(where, (1 << 64) - 4)
        program.store(where, 0)
    (kernel,) = kernels_of(program.trace)
    assert len(conflicts(kernel, kernel.accesses, _none).first) == 2
