"""Columns, provenance, JSON and page of a table whose figures are known."""

import json

from racetrap.fpga.cost.columns import cell_text, columns_of
from racetrap.fpga.cost.limits import limits
from racetrap.fpga.cost.provenance import provenance
from racetrap.fpga.cost.report import to_json
from racetrap.presenters.cost_page import html_page
from tests.support.pages.cost_tables import cost_table


def test_rows():
    table = cost_table()
    columns = columns_of(table)
    rows = [
        {f"{each.family} {each.name}".strip(): each.cell(row) for each in columns}
        for row in table.rows
    ]
    assert rows[0] == {
        "block": "bank", "instances": 1, "flip-flops elaborated": 70, "memory bits": 500,
        "ecp5 LUT": 1234, "ecp5 FF": 77, "ecp5 block RAM": 3, "ecp5 DSP": 0, "ecp5 depth": 9,
        "ecp5 Fmax [MHz]": "100.0 (90.0-120.0)",
        "asic FF": 77, "asic depth": 9, "asic GE": 1151.3, "asic area [um2]": 4321.6,
    }  # fmt: skip
    assert set(list(rows[1].values())[4:]) == {None}


def test_cells():
    assert [cell_text(cell) for cell in (None, 12345, 1151.3, "bank")] == [
        "–", "12,345", "1,151", "bank"
    ]  # fmt: skip


def test_problems_say_where():
    assert cost_table().problems == ["scord-tiny, tracker, ecp5: Memory m must be kept, not lost"]


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


def test_json():
    data = json.loads(json.dumps(to_json([cost_table()], "racetrap cost scord-tiny")))
    table = data["tables"][0]
    assert table["preset"] == "scord-tiny"
    bank, tracker = table["blocks"]
    assert bank["state_bits"] == {"flip_flops": 70, "memory_bits": 500}
    assert bank["costs"]["ecp5"]["fmax_mhz"] == {"median": 100.0, "low": 90.0, "high": 120.0}
    assert [each["seed"] for each in bank["costs"]["ecp5"]["placements"]] == [1, 2, 3]
    assert bank["costs"]["asic"]["synthesis"]["gate_equivalents"] == 1151.3
    assert bank["costs"]["asic"]["fmax_mhz"] is None
    assert tracker["costs"]["ecp5"]["synthesis"] is None
    assert table["problems"] == cost_table().problems
    fences = next(each for each in table["paper"] if each["name"] == "fence files")
    assert (fences["paper"], fences["counted"], fences["agrees"]) == (720, 12, False)


def test_page():
    page = html_page([cost_table()], "racetrap cost scord-tiny --html <page>")
    assert "racetrap cost scord-tiny --html &lt;page&gt;" in page
    for text in (
        "<td>1,234</td>", "100.0 (90.0-120.0)", "<td>1,151</td>", "path of seed 3",
        "Memory m must be kept", "ScoRD (ISCA&#39;20) Section IV-C", "seeds 1, 2, 3", "power",
    ):  # fmt: skip
        assert text in page, text
