"""The descriptor tap against its model on random accesses, and planted bugs."""

from dataclasses import replace

import pytest

from racetrap.golden_model.noncoherent.taps.params import EngineRegisters
from tests.support.noncoherent.taps.benches import descriptor_found_and_due
from tests.support.noncoherent.taps.planted_bugs import DESCRIPTOR_TAP_BUGS
from tests.support.noncoherent.taps.system import PARAMS, REGISTERS, module_of
from tests.support.planted_bugs import one_for_each_file

#: A copying engine with one start bit, which shares the register with what it polls.
_COPYING = replace(
    REGISTERS, rows=None, stride=None, start=0x18, read_mask=4, write_mask=4, done_mask=3
)
_READER = EngineRegisters(source=0, length=4, start=8, read_mask=0xFF, status=12, done_mask=0x100)


def _found_and_due(registers, bug):
    dut = module_of("descriptor_tap", bug).DescriptorTap(PARAMS.monitor, registers, 1)
    return descriptor_found_and_due(dut, registers)


@pytest.mark.parametrize("registers", [REGISTERS, _COPYING, _READER])
def test_operations_are_those_of_the_model(registers):
    found, due = _found_and_due(registers, None)
    assert found == due
    assert sum(map(len, due)) > 10


@pytest.mark.parametrize(
    "name", one_for_each_file({name: bug.file for name, bug in DESCRIPTOR_TAP_BUGS.items()})
)
def test_planted_bug_is_found(name):
    found, due = _found_and_due(REGISTERS, DESCRIPTOR_TAP_BUGS[name])
    assert found != due
