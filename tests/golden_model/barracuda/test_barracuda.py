"""The paper's rules, one at a time."""

import pytest

from racetrap.golden_model.barracuda import Barracuda, BarrierDivergence
from racetrap.golden_model.events import EventKind, Space
from tests.support.oracle.programs import ALL, BLOCK, DEVICE, SHARED, Program

HERE, SAME_BLOCK, OTHER_BLOCK = (0, 0), (0, 1), (1, 0)
INTRA_WARP = ("unordered", "divergence")
INTRA_BLOCK = ("unordered", "intra-block")
INTER_BLOCK = ("unordered", "inter-block")
LOW, HIGH = 0xFFFF, 0xFFFF0000


@pytest.mark.parametrize(
    ("other", "races"), [(HERE, []), (SAME_BLOCK, [INTRA_BLOCK]), (OTHER_BLOCK, [INTER_BLOCK])]
)
@pytest.mark.parametrize("first", ["load", "store", "atomic"])
@pytest.mark.parametrize("second", ["load", "store", "atomic"])
def test_conflicts_need_order(barracuda, first, second, other, races):
    program = Program()
    getattr(program, first)(HERE, 0)
    getattr(program, second)(other, 0)
    conflict = first != second or first == "store"
    assert barracuda(program) == (races if conflict else [])


def test_race_names_both_accesses():
    program = Program()
    one = program.store((1, 1), 0x40, lanes=0b110, stride=4)
    two = program.load((0, 1), 0x44, lanes=0b1000)
    (race,) = Barracuda().run(program.trace)
    assert (race.space, race.address, race.kernel) == (Space.GLOBAL, 0x44, 0)
    assert race.first == (1, 34, one, EventKind.STORE, 3, 4)
    assert race.second == (0, 35, two, EventKind.LOAD, 4, 4)
    assert race.reason == "nothing orders the two accesses"


def test_race_is_told_once_for_each_pair_of_instructions(barracuda):
    program = Program()
    for address in (0, 4, 8):
        program.store(HERE, address, pc=0x1000)
        program.store(OTHER_BLOCK, address, pc=0x2000)
        program.store(OTHER_BLOCK, address, pc=0x2000)
    program.store(HERE, 0, pc=0x3000)
    assert barracuda(program) == [INTER_BLOCK, INTER_BLOCK]


def test_every_reader_since_the_last_write_counts(barracuda):
    program = Program(blocks=3)
    program.load(HERE, 0)
    program.load(OTHER_BLOCK, 0)
    program.load((2, 0), 0)
    program.store(OTHER_BLOCK, 0)
    assert barracuda(program) == [INTER_BLOCK, INTER_BLOCK]


def test_write_forgets_the_readers_before_it(barracuda):
    program = Program()
    program.load(HERE, 0)
    program.store(HERE, 0)
    program.barrier(0)
    program.store(SAME_BLOCK, 0)
    assert barracuda(program) == []


def test_plain_write_before_an_atomic_counts(barracuda):
    program = Program()
    program.store(HERE, 0)
    program.atomic(SAME_BLOCK, 0)
    program.atomic(OTHER_BLOCK, 0)
    assert barracuda(program) == [INTRA_BLOCK]  # atomics do not race with each other


def test_barrier_orders_its_block_alone(barracuda):
    program = Program()
    program.store(HERE, 0)
    program.barrier(0)
    program.load(SAME_BLOCK, 0)
    program.barrier(1)
    program.load(OTHER_BLOCK, 0)
    assert barracuda(program) == [INTER_BLOCK]


def test_shared_memory_is_the_blocks_own(barracuda):
    program = Program()
    program.store(HERE, 0, **SHARED)
    program.store(OTHER_BLOCK, 0, **SHARED)
    program.store(OTHER_BLOCK, 0)
    assert barracuda(program) == []
    program.store(SAME_BLOCK, 0, **SHARED)
    assert barracuda(program) == [INTRA_BLOCK]


def test_kernels_are_ordered(barracuda):
    program = Program()
    program.store(HERE, 0)
    program.next_kernel()
    program.store(OTHER_BLOCK, 0)
    assert barracuda(program) == []


def test_bytes_of_one_word_are_apart(barracuda):
    program = Program()
    program.store(HERE, 0, size=1)
    program.store(OTHER_BLOCK, 1, size=1)
    assert barracuda(program) == []
    program.load(OTHER_BLOCK, 0, size=4)
    assert barracuda(program) == [INTER_BLOCK]


def test_wide_accesses_overlap(barracuda):
    program = Program()
    program.store(HERE, 0x10, size=16)
    program.store(OTHER_BLOCK, 0x18, size=8)
    assert barracuda(program) == [INTER_BLOCK]
    assert Barracuda().run(program.trace)[0].address == 0x18


@pytest.mark.parametrize(
    ("values", "races"), [((7,), []), ((7, 8), [("same-instruction", "divergence")])]
)
def test_lanes_may_store_one_value_together(barracuda, values, races):
    program = Program()
    program.store(HERE, 0, lanes=0b11, values=values)
    program.atomic(HERE, 4, lanes=0b11)
    program.load(HERE, 0, lanes=0b11)
    assert barracuda(program) == races


def test_upper_half_of_a_vector_counts_as_value(barracuda):
    program = Program()
    program.store(HERE, 0, lanes=0b11, size=16, compare=3)
    assert barracuda(program) == []


def test_sides_of_a_branch_are_concurrent(barracuda):
    program = Program()
    program.store(HERE, 0, lanes=1)  # before the branch: ordered with both sides
    program.branch(HERE, LOW)
    program.store(HERE, 0, lanes=1)
    program.other_side(HERE, HIGH)
    program.store(HERE, 0, lanes=1 << 31)
    program.together(HERE, ALL)
    program.store(HERE, 0, lanes=1 << 15)  # behind it: ordered with both sides again
    assert barracuda(program) == [INTRA_WARP]


def test_sides_race_even_with_one_value(barracuda):
    program = Program()
    program.branch(HERE, LOW)
    program.store(HERE, 0, lanes=1, values=(5,))
    program.other_side(HERE, HIGH)
    program.store(HERE, 0, lanes=1 << 31, values=(5,))
    assert barracuda(program) == [INTRA_WARP]


def test_nested_branches(barracuda):
    program = Program()
    program.branch(HERE, LOW)
    program.store(HERE, 0, lanes=1)
    program.branch(HERE, 0xFF)
    program.store(HERE, 4, lanes=1)
    program.other_side(HERE, 0xFF00)
    program.load(HERE, 0, lanes=0x100)  # stored before the inner branch
    program.load(HERE, 4, lanes=0x100)
    program.together(HERE, LOW)
    program.load(HERE, 4, lanes=0x200)
    program.other_side(HERE, HIGH)
    program.load(HERE, 4, lanes=1 << 31)
    program.together(HERE, ALL)
    program.load(HERE, 4, lanes=1 << 31)
    assert barracuda(program) == [INTRA_WARP, INTRA_WARP]


def test_lanes_that_exit_in_a_branch_do_not_come_together(barracuda):
    program = Program()
    program.branch(HERE, LOW)
    program.store(HERE, 0, lanes=1)
    program.leave(HERE, LOW)
    program.other_side(HERE, HIGH)
    program.together(HERE, HIGH)
    program.load(HERE, 0, lanes=1 << 31)
    assert barracuda(program) == [INTRA_WARP]


def test_barrier_waits_for_no_lane_that_has_exited(barracuda):
    program = Program(live=HIGH)
    program.branch(HERE, LOW)
    program.store(HERE, 0, lanes=1)
    program.leave(HERE, LOW)
    program.other_side(HERE, HIGH)
    program.together(HERE, HIGH)
    program.barrier(0)
    program.load(HERE, 0, lanes=1 << 31)
    assert barracuda(program) == []
    assert Barracuda().run(program.trace).barrier_divergences == []


def test_barrier_in_divergent_code_is_an_error():
    program = Program()
    program.branch((1, 1), LOW << 4 & ALL)
    pc = program.barrier(1)
    program.barrier(0)
    result = Barracuda().run(program.trace)
    assert result.barrier_divergences == [BarrierDivergence(1, pc, 32, 0)]


SCOPES = (None, BLOCK, DEVICE)


def _message(other, writer, reader) -> Program:
    program = Program()
    program.store(HERE, 0)
    if writer is not None:
        program.fence(HERE, writer)
    program.store(HERE, 4)
    program.load(other, 4)
    if reader is not None:
        program.fence(other, reader)
    program.load(other, 0)
    return program


@pytest.mark.parametrize("writer", SCOPES)
@pytest.mark.parametrize("reader", SCOPES)
@pytest.mark.parametrize("other", [SAME_BLOCK, OTHER_BLOCK])
def test_message_with_fences(barracuda, other, writer, reader):
    """Both sides need a fence; between blocks one of the two must have device scope."""
    races = barracuda(_message(other, writer, reader))
    fenced = writer is not None and reader is not None
    wide = DEVICE in (writer, reader)
    assert (not races) == (fenced and (other == SAME_BLOCK or wide))


def test_lock(barracuda):
    def critical_section(where, fenced):
        scope = DEVICE if fenced else None
        program.take(where, 4, fence=scope)
        program.load(where, 0)
        program.store(where, 0)
        program.free(where, 4, fence=scope)

    program = Program()
    for where in (HERE, OTHER_BLOCK, SAME_BLOCK):
        critical_section(where, fenced=True)
    assert barracuda(program) == []
    critical_section(OTHER_BLOCK, fenced=False)
    assert INTER_BLOCK in barracuda(program)


def test_order_is_transitive(barracuda):
    program = Program(blocks=3)
    for one, other in ((HERE, OTHER_BLOCK), (OTHER_BLOCK, (2, 0))):
        program.store(one, 0x10)
        program.fence(one, DEVICE)
        program.atomic(one, 4 + 4 * other[0], lanes=1)
        program.fence(one, DEVICE)
        program.load(other, 4 + 4 * other[0])
        program.fence(other, DEVICE)
        program.load(other, 0x10)
    assert barracuda(program) == []


def test_counts():
    program = Program()
    program.store(HERE, 0, lanes=ALL, stride=4)
    program.barrier(0)
    program.load(SAME_BLOCK, 0, lanes=ALL)
    counts = Barracuda().run(program.trace).counts
    assert counts.operations == 32 + 1 + 1 + 32 + 1  # accesses, two ends of instruction, barrier
    assert counts.pairs == 1
    assert counts.formats == {"converged": 2}
