"""Launches that must be refused."""

from dataclasses import replace
from random import Random

import pytest

from racetrap.generators.presets import find_preset
from racetrap.golden_model.gpu.region import Region
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.gpu.refused_launch import refuse_launches

_PARAMS = find_preset("causality-tiny").params
_REGION = Region(0x4000, 14, 0x80000)


class _Hardware:
    """Refuses all but what ``takes`` says, and keeps what it was asked."""

    def __init__(self, takes=lambda *configuration: False):
        self.asked, self._takes = [], takes

    def is_refused(self, *configuration):
        self.asked.append(configuration)
        return not self._takes(*configuration)


def test_all_that_is_tried_is_illegal_by_one_value():
    hardware = _Hardware()
    for seed in range(100):
        refuse_launches(hardware, _PARAMS, _REGION, Random(seed))
    names = set()
    for region, ring_base, ring_log2 in hardware.asked:
        others = {name for name in vars(region) if getattr(region, name) != getattr(_REGION, name)}
        assert len(others) <= 1
        names |= others
        is_far = ring_base + (32 << ring_log2) > 1 << _PARAMS.address_bits
        if not others:
            names |= {"end"} if is_far and ring_log2 < 32 else {"ring"}
            assert ring_base % 32 or ring_log2 >= 32 or is_far
        else:
            with pytest.raises(ValueError, match="must"):
                region.check(_PARAMS)
    assert names == {"data_base", "metadata_base", "size_log2", "ring", "end"}


def test_hardware_that_takes_one():
    hardware = _Hardware(lambda region, *ring: region == replace(_REGION, data_base=0x4001))

    def refuse():
        for seed in range(500):
            refuse_launches(hardware, _PARAMS, _REGION, Random(seed))

    with pytest.raises(Mismatch, match=r"Launch must be refused with Region.*data_base=16385"):
        refuse()
