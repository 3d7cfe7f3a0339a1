"""Text, JSON and page of a table whose figures are known."""

import json

from racetrap.presenters.cost import page_of, tables_of, to_json
from tests.support.pages.cost_tables import cost_table


def test_rows():
    blocks, _, _ = tables_of(cost_table())
    rows = blocks.to_json()
    assert rows[0] == {
        "block": "bank", "instances": 1, "flip-flops elaborated": 70, "memory bits": 500,
        "ecp5 LUT": 1234, "ecp5 FF": 77, "ecp5 block RAM": 3, "ecp5 DSP": 0, "ecp5 depth": 9,
        "ecp5 Fmax [MHz]": "100.0 (90.0-120.0)",
        "asic FF": 77, "asic depth": 9, "asic GE": 1151.3, "asic area [um2]": 4321.6,
    }  # fmt: skip
    assert set(list(rows[1].values())[4:]) == {None}


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
    page = page_of([cost_table()], "racetrap cost scord-tiny --output <page>", {})
    assert "racetrap cost scord-tiny --output &lt;page&gt;" in page
    for text in (
        "<td>1,234</td>", "100.0 (90.0-120.0)", "<td>1,151</td>", "not-for", "path of seed 3",
        "Memory m must be kept", "ScoRD (ISCA&#39;20) Section IV-C", "seeds 1, 2, 3", "power",
    ):  # fmt: skip
        assert text in page, text
