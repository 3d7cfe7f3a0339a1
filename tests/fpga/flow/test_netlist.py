"""Counts and logic depth of hand-made netlists."""

import pytest

from racetrap.fpga.flow.families import family
from racetrap.fpga.flow.netlist import cells_of, count_cells, has_memory, logic_depth

ECP5 = family("ecp5")


def cell(kind, inputs, outputs):
    """A cell from its ports' nets."""
    ports = {port: [net] for port, net in (inputs | outputs).items()}
    directions = dict.fromkeys(inputs, "input") | dict.fromkeys(outputs, "output")
    return {"type": kind, "connections": ports, "port_directions": directions}


def chain():
    """Register, table, two carry cells, wide multiplexer, table, register."""
    return {
        "start": cell("TRELLIS_FF", {"DI": 9}, {"Q": 1}),
        "table": cell("LUT4", {"A": 1, "B": "0"}, {"Z": 2}),
        "carry": cell("CCU2C", {"A0": 2, "CIN": "0"}, {"COUT": 3}),
        "carried": cell("CCU2C", {"A0": 1, "CIN": 3}, {"S0": 4}),
        "wide": cell("PFUMX", {"ALUT": 4, "C0": 1}, {"Z": 5}),
        "last": cell("LUT4", {"A": 5}, {"Z": 9}),
    }


def test_depth_counts_tables_but_no_carries_and_wide_multiplexers():
    assert logic_depth(chain(), ECP5) == 3


def test_a_register_ends_a_path():
    cells = chain() | {"table": cell("TRELLIS_FF", {"DI": 1}, {"Q": 2})}
    assert logic_depth(cells, ECP5) == 2


@pytest.mark.parametrize(("port", "depth"), [("RAD", 2), ("DI", 1)])
def test_lut_ram_is_a_table_of_its_read_address_only(port, depth):
    cells = {
        "start": cell("TRELLIS_FF", {"DI": 9}, {"Q": 1}),
        "table": cell("LUT4", {"A": 1}, {"Z": 2}),
        "memory": cell("TRELLIS_DPR16X4", {port: 2}, {"DO": 9}),
    }
    assert logic_depth(cells, ECP5) == depth


def test_no_logic_has_no_depth():
    assert logic_depth({"only": cell("TRELLIS_FF", {"DI": 1}, {"Q": 2})}, ECP5) == 0


def test_combinational_cycle():
    cells = chain() | {"start": cell("LUT4", {"A": 9}, {"Z": 1})}
    with pytest.raises(ValueError, match=r"^Netlist has a combinational cycle: 6 cells"):
        logic_depth(cells, ECP5)


def test_cells_are_counted_without_notes():
    noted = chain() | {"note": {"type": "$scopeinfo"}}
    cells = cells_of({"modules": {"top": {"cells": noted}}})
    assert cells == chain()
    assert count_cells(cells) == {"CCU2C": 2, "LUT4": 2, "PFUMX": 1, "TRELLIS_FF": 1}


def test_memory_is_found_by_its_whole_name():
    cells = {
        "bank.memory.0.1": {"type": "DP16KD"},
        "bank.table[3]_TRELLIS_FF_Q": {"type": "TRELLIS_FF"},
        "lock.words.0.0": {"type": "TRELLIS_DPR16X4"},
    }
    assert has_memory(cells, ECP5, "bank.memory")
    assert has_memory(cells, ECP5, "lock.words")
    assert not has_memory(cells, ECP5, "bank.mem")
    assert not has_memory(cells, ECP5, "bank.table")
