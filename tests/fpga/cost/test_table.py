"""A table of costs whose figures are known, where they are from, and what they are not for."""

from dataclasses import replace

from racetrap.fpga.cost.limits import limits
from racetrap.fpga.cost.provenance import provenance
from racetrap.fpga.cost.table import BlockRow, Cost
from racetrap.generators.structure import StateBits
from tests.support.pages.cost_tables import cost_table


def test_problems_say_where():
    assert cost_table().problems == ["scord-tiny, tracker, ecp5: Memory m must be kept, not lost"]


def test_a_problem_of_many_blocks_is_said_once():
    table = cost_table()
    lost = Cost("device A", problem="`yosys` was not found")
    rows = [BlockRow(name, 1, StateBits(), {"ecp5": lost, "asic": lost}) for name in "abc"]
    problems = replace(table, rows=tuple(rows)).problems
    assert problems == ["scord-tiny, a, ecp5 and 5 more: `yosys` was not found"]


def test_critical_path_is_of_the_median():
    assert cost_table().paths == {"bank, ecp5": ["path of seed 3"]}


def test_provenance():
    assert provenance([cost_table()]) == {
        "ecp5": "device A; yosys 1; constraint 100 MHz; seeds 1, 2, 3",
        "asic": "library; yosys 2; synthesis only",
    }


def test_limits_are_of_the_families():
    said = {family: " ".join(limits([family])) for family in ("ecp5", "xc7", "asic")}
    assert "power" in said["ecp5"]
    assert ["wiring" in text for text in said.values()] == [False, False, True]
    assert ["Fmax is" in text for text in said.values()] == [True, True, False]
    assert ["vendor" in text for text in said.values()] == [False, True, False]
    for target in ("ecp5 45k", "xc7 xc7", "asic sky130"):  # with a device that was named
        assert limits([target]) == limits([target.split()[0]])
