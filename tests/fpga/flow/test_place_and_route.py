"""Place and route of a small block on the small ECP5."""

import pytest

from racetrap.fpga.flow import place_and_route as module
from racetrap.fpga.flow.families import family
from racetrap.fpga.flow.place_and_route import place_and_route
from racetrap.fpga.flow.tools import ToolError
from racetrap.generators.presets import find_preset
from racetrap.rtl.scord.barrier_ids import BarrierIds

PARAMS = find_preset("scord-tiny").params


def test_small_block_on_ecp5(tmp_path, monkeypatch):
    def place(folder, seeds, constraint=50):
        return place_and_route(
            BarrierIds(PARAMS), family("ecp5", "25k"), seeds, folder, constraint_mhz=constraint
        )

    (placement,) = found = place(tmp_path / "work", [3])
    assert placement.seed == 3
    assert placement.fmax_mhz > 50
    assert placement.constraint_mhz == 50
    assert placement.device == "LFE5U-25F, CABGA381, speed grade 6"
    assert placement.utilization["TRELLIS_FF"] > 0
    first, *_, last = placement.critical_path
    assert " clk-to-q " in first
    assert " setup " in last
    # The delays of the critical path are the clock's period.
    period = sum(float(step.split()[0]) for step in placement.critical_path)
    assert 1000 / period == pytest.approx(placement.fmax_mhz, rel=0.03)

    def no_tool(*_):
        raise ToolError("a tool was called")

    monkeypatch.setattr(module, "run_tool", no_tool)
    assert place(tmp_path / "other", [3]) == found
    for seeds, constraint in (([4], 50), ([3], 60)):
        with pytest.raises(ToolError, match="a tool was called"):
            place(tmp_path / "other", seeds, constraint)


@pytest.mark.parametrize("name", ["xc7", "asic"])
def test_family_without_place_and_route(name, tmp_path):
    with pytest.raises(ValueError, match=f"^Family must be one with place and route, not {name}$"):
        place_and_route(BarrierIds(PARAMS), family(name), [1], tmp_path, constraint_mhz=50)
