"""The address map against its model, and planted bugs."""

from random import Random

import pytest
from amaranth.hdl import Module, Value
from amaranth.lib import wiring
from amaranth.sim import Simulator

from racetrap.golden_model.noncoherent.taps.address_map import place_of
from tests.support.noncoherent.taps.system import (
    PARAMS,
    module_of,
    packed_windows,
    random_address,
    random_windows,
    tap_bugs,
)
from tests.support.planted_bugs import one_for_each_file

_BUGS = tap_bugs({
    "last-region-wins": (
        "address_map", "reversed(self._params.regions)", "self._params.regions"
    ),
    "alias-is-not-taken-off": (
        "address_map", "region.base if region.target is None else region.target", "region.base"
    ),
    "window-has-its-end": ("address_map", "(memory < window.end)", "(memory <= window.end)"),
    "window-in-ignored-memory": (
        "address_map", "(attribute == Attribute.CACHED) & is_inside", "is_inside"
    ),
})  # fmt: skip


def _differs(bug):
    """Number of the first of random addresses at which hardware and model differ."""
    dut, random, differing = module_of("address_map", bug).AddressMap(PARAMS), Random(3), []

    async def play(ctx):
        for number in range(400):
            address, windows = random_address(random), random_windows(random)
            if number % 8 == 0 and windows[0].first < windows[0].end:
                address = windows[0].end
            ctx.set(dut.i_address, address)
            ctx.set(Value.cast(dut.i_windows), packed_windows(windows))
            found = ctx.get(Value.cast(dut.o_attribute)), ctx.get(dut.o_address)
            if found != place_of(PARAMS, address, windows):
                differing.append(number)

    simulator = Simulator(_wrapped(dut))
    simulator.add_testbench(play)
    simulator.run()
    return differing[0] if differing else None


def _wrapped(dut: wiring.Component) -> Module:
    m = Module()
    m.submodules.dut = dut
    return m


def test_places_are_those_of_the_model():
    assert _differs(None) is None


@pytest.mark.parametrize("name", one_for_each_file({name: bug.file for name, bug in _BUGS.items()}))
def test_planted_bug_is_found(name):
    assert _differs(_BUGS[name]) is not None
