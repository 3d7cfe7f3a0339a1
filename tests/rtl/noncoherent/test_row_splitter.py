"""The row splitter against its model."""

import random
from dataclasses import replace

import pytest

from racetrap.golden_model.noncoherent.packets import BusOperation, is_empty, rows_of
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.rtl.noncoherent.row_splitter import RowSplitter
from racetrap.rtl.noncoherent.system import NoncoherentSystem
from racetrap.sim.cosim.noncoherent.random_bus_operations import random_bus_operations
from tests.support.rtl.ready_paths import valid_to_ready_paths
from tests.support.rtl.streams import get_all, never_idle, put_all, random_idle, simulate

_PARAMS = NoncoherentParams(address_bits=16, tag_bits=16, engines=2)


@pytest.mark.parametrize("idle", [never_idle, random_idle(1)])
def test_rows_are_those_of_the_model(idle):
    operations = random_bus_operations(random.Random(1), _PARAMS, 120, 0x1000)
    operations.append(BusOperation(0, 0, 0xFFFC, 4, 1, 0, 999))
    due = [row for operation in operations for row in rows_of(_PARAMS, operation)]
    empty = sum(map(is_empty, operations))
    assert empty > 2
    assert len(due) > len(operations)
    dut, found, taken = RowSplitter(_PARAMS), [], []

    async def watch(ctx):
        async for *_, is_taken in ctx.tick().sample(dut.o_empty):
            taken.extend([1] * is_taken)

    sent = [_PARAMS.operation_layout.pack(operation._asdict()) for operation in operations]
    simulate(
        dut, put_all(dut.i, sent), get_all(dut.o, len(due), found, idle=idle), background=[watch]
    )
    assert found == [_PARAMS.row_layout.pack(row._asdict()) for row in due]
    assert len(taken) == empty


def test_no_path_from_valid_to_ready():
    small = replace(_PARAMS, engines=1, entries=2, trace_port=False)
    assert valid_to_ready_paths(NoncoherentSystem(small)) == []
