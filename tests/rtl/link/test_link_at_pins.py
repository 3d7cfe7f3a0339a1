"""The host link at its pins, against a third party's UART and the golden device."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from racetrap.sim.content_cache import cache_folder
from racetrap.sim.cosim.verilator.cocotb_build import BuiltModel, build_component, build_key
from racetrap.sim.cosim.verilator.cocotb_run import run
from tests.support.link import loopback
from tests.support.link.faults import FAULTS
from tests.support.link.loopback import LinkLoop, LoopParams

#: Even and odd divisors, queues of one record and of many.
_LINKS = (
    LoopParams(5, channels=2, divisor=8),
    LoopParams(1, divisor=9, credits=1),
    LoopParams(25, divisor=25, credits=2),
)
#: Of 24 MHz and 25 MHz; divisor 8 of the first is 3 M baud.
_PERIODS_PS = (41_666, 40_000, 40_000)
_CASES = 8


@dataclass(frozen=True)
class _LinkModel(BuiltModel):
    """A simulator of a link."""

    @property
    def facts(self) -> dict[str, Any]:
        return {"link": asdict(self.params)}


def _build(link: LoopParams) -> BuiltModel:
    """Verilate ``LinkLoop``, or find it in the cache."""
    key = build_key(asdict(link), files=[Path(loopback.__file__)])
    params: Any = link
    model = _LinkModel("link", params, cache_folder() / "verilator" / f"link-{key}", waves=None)
    build_component(model, lambda: LinkLoop(link))
    return model


@pytest.mark.campaign
@pytest.mark.parametrize(("link", "period_ps"), zip(_LINKS, _PERIODS_PS, strict=True))
def test_nothing_is_lost_or_done_twice(link, period_ps, tmp_path, seed):
    plan = {"requests": 40, "period_ps": period_ps}
    result = run(_build(link), "tests.support.link.link_tests", tmp_path, plan, seed=seed)
    assert [case.failure for case in result.cases] == [None] * _CASES
    long = [note for note in result.notes if note["requests"] > 40]
    for note in long:
        assert note["returned"] > 0
        assert (note["resends"] > 0) == any(note["faults"].values())
    assert {bool(note["resends"]) for note in long} == {False, True}
    seen = {name for note in long for name, count in note["faults"].items() if count}
    assert len(seen) > len(FAULTS) // 2
