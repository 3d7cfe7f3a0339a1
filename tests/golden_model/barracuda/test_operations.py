"""Accesses that the paper takes for acquires and releases."""

import pytest

from racetrap.golden_model.barracuda.kernel import kernels_of
from racetrap.golden_model.barracuda.operations import infer_operations
from racetrap.golden_model.events import AtomicOp
from tests.support.oracle.programs import BLOCK, DEVICE, Program

HERE, OTHER = (0, 0), (0, 1)
CAS, EXCH, OTHER_OP = AtomicOp.CAS, AtomicOp.EXCH, AtomicOp.OTHER


def _inferred(program: Program) -> dict[int, tuple[int, int]]:
    """Scopes of acquire and release by PC."""
    kernels = list(kernels_of(program.trace))
    found = {}
    for kernel, operations in zip(kernels, infer_operations(kernels), strict=True):
        for row in kernel.accesses:
            scopes = int(operations.acquire[row]), int(operations.release[row])
            found[int(kernel.events["pc"][row])] = scopes
    return found


def _access(program: Program, what, where=HERE, **fields) -> int:
    if isinstance(what, AtomicOp):
        return program.atomic(where, 0, DEVICE, what, **fields)
    return getattr(program, what)(where, 0, **fields)


@pytest.mark.parametrize(
    ("what", "before", "after", "expected"),
    [
        ("store", None, None, (0, 0)),
        ("store", BLOCK, None, (0, 1)),
        ("weak_store", DEVICE, None, (0, 2)),
        ("store", None, DEVICE, (0, 0)),
        ("load", None, DEVICE, (2, 0)),
        ("weak_load", None, BLOCK, (1, 0)),
        ("load", DEVICE, None, (0, 0)),
        (CAS, None, BLOCK, (1, 0)),
        (CAS, DEVICE, None, (0, 0)),
        (EXCH, DEVICE, None, (0, 2)),
        (EXCH, None, DEVICE, (0, 0)),
        (OTHER_OP, DEVICE, None, (0, 0)),
        (OTHER_OP, None, DEVICE, (0, 0)),
        (OTHER_OP, DEVICE, BLOCK, (1, 2)),
        (CAS, BLOCK, DEVICE, (2, 1)),
        (EXCH, BLOCK, BLOCK, (1, 1)),
    ],
)
def test_access_between_fences(what, before, after, expected):
    program = Program()
    program.load(HERE, 0x40)
    if before is not None:
        program.fence(HERE, before)
    pc = _access(program, what)
    if after is not None:
        program.fence(HERE, after)
    program.load(HERE, 0x40)
    assert _inferred(program)[pc] == expected


def test_something_between_access_and_fence():
    program = Program()
    program.fence(HERE, DEVICE)
    program.load(HERE, 0x40)
    access = program.store(HERE, 0)
    program.fence(HERE, DEVICE)
    program.barrier(0)
    behind_barrier = program.store(HERE, 0)
    inferred = _inferred(program)
    assert inferred[access] == inferred[behind_barrier] == (0, 0)


def test_branches_between_do_not_count():
    program = Program()
    program.fence(HERE, DEVICE, lanes=0b11)
    program.branch(HERE, 0b1)
    pc = program.store(HERE, 0, lanes=0b1)
    assert _inferred(program)[pc] == (0, 2)


def test_fence_of_other_lanes_or_another_warp_is_none():
    program = Program()
    program.fence(HERE, DEVICE, lanes=0b10)
    other_lanes = program.store(HERE, 0, lanes=0b1)
    program.fence(HERE, DEVICE)
    other_warp = program.store(OTHER, 0)
    inferred = _inferred(program)
    assert inferred[other_lanes] == inferred[other_warp] == (0, 0)


def test_one_execution_is_enough_and_the_widest_scope_counts():
    """A spinning CAS meets its fence only at the end."""
    program = Program()
    for _ in range(3):
        pc = _access(program, CAS, pc=0x5000)
    program.fence(HERE, BLOCK)
    assert _inferred(program)[pc] == (1, 0)
    _access(program, CAS, OTHER, pc=0x5000)
    program.fence(OTHER, DEVICE)
    assert _inferred(program)[pc] == (2, 0)


def test_fence_of_a_named_acquire_is_its_own_alone():
    program = Program()
    acquire = program.load(HERE, 0, pc=0x5000)
    program.fence(HERE, DEVICE, pc=0x5000)
    store = program.store(HERE, 4)
    inferred = _inferred(program)
    assert (inferred[acquire], inferred[store]) == ((2, 0), (0, 0))
