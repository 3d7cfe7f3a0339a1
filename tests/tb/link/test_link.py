"""The host link at its pins, against a third party's UART and the golden device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from racetrap.sim.content_cache import cache_folder
from racetrap.sim.cosim.verilator.cocotb_build import BuiltModel, build_component, build_key
from racetrap.sim.cosim.verilator.cocotb_run import run
from racetrap.tb.link import loopback
from racetrap.tb.link.faults import FAULTS
from racetrap.tb.link.loopback import LinkLoops, LoopParams

#: Record sizes around whole bytes, even and odd divisors, queues of one record and of many.
_LINKS = (
    LoopParams(33, divisor=8),
    LoopParams(1, divisor=9, credits=1, depth=1),
    LoopParams(7, channels=2, divisor=8),
    LoopParams(8, channels=3, divisor=13, credits=2, depth=5),
    LoopParams(9, divisor=8, credits=9),
    LoopParams(200, divisor=25, credits=2, depth=3),
)
#: Of 24 MHz and 25 MHz; divisor 8 of the first is 3 M baud.
_PERIODS_PS = {"24 MHz": 41_666, "25 MHz": 40_000}


@dataclass(frozen=True)
class _LinkModel(BuiltModel):
    """A simulator of links."""

    @property
    def facts(self) -> dict[str, Any]:
        links: Any = self.params
        return {"links": [asdict(link) for link in links]}


def _build(links: Sequence[LoopParams]) -> BuiltModel:
    """Verilate ``LinkLoops``, or find it in the cache."""
    key = build_key([asdict(link) for link in links], files=[Path(loopback.__file__)])
    params: Any = tuple(links)
    model = _LinkModel("link", params, cache_folder() / "verilator" / f"link-{key}", waves=None)
    build_component(model, lambda: LinkLoops(links))
    return model


@pytest.fixture
def play(tmp_path, seed):
    """Function that runs tests of the testbench."""

    def play(cases, requests, clock="24 MHz"):
        plan = {"requests": requests, "period_ps": _PERIODS_PS[clock]}
        model = _build(_LINKS)
        result = run(
            model, "racetrap.tb.link.link_tests", tmp_path, plan, seed=seed,
            case=f"({'|'.join(cases)})",
        )  # fmt: skip
        print(f"{cases}, seed {seed}: log in {tmp_path / 'simulation.log'}")
        assert {case.name: case.failure for case in result.cases} == dict.fromkeys(cases)
        return result.notes

    return play


def test_clean_line(play):
    notes = play(["clean_line"], 20)
    assert len(notes) == len(_LINKS)
    for note in notes:
        assert note["returned"] > 0, note
        assert note["repeats"] == 0, note


def test_nothing_is_lost_silently_on_a_bad_line(play):
    notes = play(["bad_line"], 40)
    assert len(notes) == len(_LINKS)
    for note in notes:
        assert note["returned"] > 0, note
        assert note["repeats"] > 0, note
    for name in FAULTS:
        assert sum(note["faults"][name] for note in notes) > 0
    seen = {name for note in notes for name, count in note["counters"].items() if count}
    assert seen == {
        "frames", "bad_crc", "bad_length", "too_long", "duplicates", "gaps", "uart_framing",
    }  # fmt: skip


def test_baud_rates_that_differ_by_two_percent(play):
    assert len(play(["fast_host", "slow_host"], 8, "25 MHz")) == 2 * len(_LINKS)


def test_faults_are_counted_by_cause(play):
    notes = play(["every_byte_damaged"], 44)
    assert {note["fault"] for note in notes} == set(FAULTS)
    counted = {name: set() for name in FAULTS}
    for note in notes:
        counted[note["fault"]] |= set(note["counted"])
    assert "uart_framing" in counted["no stop bit"]
    assert "too_long" in counted["too long"]
    assert {"bad_crc", "bad_length"} <= counted["flip"]


def test_beginning_break_and_reset(play):
    play(["before_hello", "break_and_noise", "reset_in_mid_frame"], 40)


def test_overrun_is_counted_and_no_request_is_executed_twice(play):
    (note,) = play(["overrun"], 0)
    assert note["overrun"]["uart_overrun"] > 0
