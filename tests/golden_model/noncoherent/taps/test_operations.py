"""Operations that instructions and register accesses stand for, by hand."""

import pytest

from racetrap.golden_model.noncoherent.packets import BusOperation
from racetrap.golden_model.noncoherent.taps.descriptor_tap import DescriptorTap, RegisterAccess
from racetrap.golden_model.noncoherent.taps.last_stage import LastStage, retired_of
from racetrap.golden_model.noncoherent.taps.rvfi_tap import Retired, operations_of
from racetrap.golden_model.trace.noncoherent.operations import OperationKind
from tests.support.noncoherent.taps.system import FLUSH_ALL_WORD, PARAMS, REGISTERS

K = OperationKind


@pytest.mark.parametrize(
    ("retired", "due"),
    [
        # lbu a0, 3(a1): the mask of a core that reads whole words
        (
            Retired(0, 0x0035C503, 0x80000400, 0x40, 0x80000400, 0b1111),
            BusOperation(K.CACHED_READ, 0, 0x80000403, 1, tag=0x40),
        ),
        # sw a0, -4(a1) by the alias
        (
            Retired(0, 0xFEA5AE23, 0xA0000404, 0x40, 0xA0000400, 0, 0b1111),
            BusOperation(K.UNCACHED_WRITE, 0, 0x80000400, 4, tag=0x40),
        ),
        # cbo.flush (a1) by the alias
        (
            Retired(0, 0x0025A00F, 0xA0000420, 0x40),
            BusOperation(K.CACHE_FLUSH, 0, 0x80000420, 1, tag=0x40),
        ),
        (Retired(0, FLUSH_ALL_WORD.match, 0, 0x40), BusOperation(K.FLUSH_ALL, tag=0x40)),
    ],
)
def test_instruction(retired, due):
    assert list(operations_of(PARAMS, retired)) == [due]
    assert list(operations_of(PARAMS, retired._replace(trap=1))) == []


@pytest.mark.parametrize(
    ("stage", "due"),
    [
        # lbu a0, 3(a1)
        (
            LastStage(0x0035C503, 0x40, 0x80000403),
            BusOperation(K.CACHED_READ, 0, 0x80000403, 1, tag=0x40),
        ),
        # sh a0, -4(a1) by the alias
        (
            LastStage(0xFEA59E23, 0x40, 0xA0000402),
            BusOperation(K.UNCACHED_WRITE, 0, 0x80000402, 2, tag=0x40),
        ),
        (LastStage(FLUSH_ALL_WORD.match, 0x40, 0x80000400), BusOperation(K.FLUSH_ALL, tag=0x40)),
    ],
)
def test_instruction_of_a_core_without_rvfi(stage, due):
    assert list(operations_of(PARAMS, retired_of(stage))) == [due]
    # add a0, a0, a0, with an address that some load has left there
    assert list(operations_of(PARAMS, retired_of(stage._replace(insn=0x00A50533)))) == []


def test_descriptor_is_the_one_at_the_start():
    """A store that arrives after the start is the next one's."""
    tap = DescriptorTap(REGISTERS)

    def write(address, data):
        return list(tap.step(RegisterAccess(1, 1, address, data), 7))

    assert write(REGISTERS.source, 0x80000400) == write(REGISTERS.length, 64) == []
    assert write(REGISTERS.start, 1) == [BusOperation(K.DMA_READ, 0, 0x80000400, 64, tag=7)]
    assert write(REGISTERS.length, 32) == []
    assert write(REGISTERS.start, 3) == [
        BusOperation(K.DMA_READ, 0, 0x80000400, 32, tag=7),
        BusOperation(K.DMA_WRITE, 0, 0, 32, tag=7),
    ]


def test_only_a_poll_that_sees_the_end_is_a_sync():
    tap = DescriptorTap(REGISTERS, 1)
    polls = [list(tap.step(RegisterAccess(1, 0, REGISTERS.status, data))) for data in (0, 1)]
    assert polls == [[], [BusOperation(K.SYNC, 1)]]
