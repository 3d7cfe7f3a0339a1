"""The row splitter against its model."""

import random
from dataclasses import replace

import pytest

from racetrap.generators.structure import valid_to_ready_paths
from racetrap.golden_model.noncoherent.packets import BusOperation, bus_operation, rows_of
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.rtl.noncoherent.row_splitter import RowSplitter
from racetrap.rtl.noncoherent.system import NoncoherentSystem
from racetrap.sim.accelerator.random_operations import random_operations
from tests.support.rtl.streams import get_all, never_idle, put_all, random_idle, simulate

_PARAMS = NoncoherentParams(address_bits=16, tag_bits=16, engines=2)


@pytest.mark.parametrize("idle", [never_idle, random_idle(1)])
def test_rows_are_those_of_the_model(idle):
    operations = [
        bus_operation(_PARAMS, number, operation)
        for number, operation in enumerate(
            random_operations(random.Random(1), _PARAMS.memory, 120, 0x1000)
        )
    ]
    operations.append(BusOperation(0, 0, 0xFFFC, 4, 1, 0, 999))
    due = [row for operation in operations for row in rows_of(_PARAMS, operation)]
    assert len(due) > len(operations)
    dut, found = RowSplitter(_PARAMS), []
    sent = [_PARAMS.operation_layout.pack(operation._asdict()) for operation in operations]
    simulate(dut, put_all(dut.i, sent), get_all(dut.o, len(due), found, idle=idle))
    assert found == [_PARAMS.row_layout.pack(row._asdict()) for row in due]


def test_no_path_from_valid_to_ready():
    small = replace(_PARAMS, engines=1, entries=2, trace_port=False)
    assert valid_to_ready_paths(NoncoherentSystem(small)) == []
