"""Driver software: it waits as long as the device needs to write every metadata entry."""

import asyncio
from types import SimpleNamespace

import pytest

from racetrap.golden_model.scord.params import Region, ScordParams
from racetrap.tb.register_agent import RegisterError
from racetrap.tb.scord.software import Software

_PARAMS = ScordParams(sm_count=2, blocks_per_sm=2, warps_per_sm=4)


class _Registers:
    """A device that is busy for so many polls."""

    def __init__(self, busy):
        self._busy = busy
        self.map = SimpleNamespace(
            pack=lambda name, **fields: 0,
            fields=lambda name, word: {"busy": word, "config_error": 0},
        )

    async def write(self, name, value):
        pass

    async def read(self, name):
        self._busy -= 1
        return int(self._busy >= 0)


def _launch(region, busy):
    pins = SimpleNamespace(reader=lambda name: None)
    bench = SimpleNamespace(params=_PARAMS, pins=pins)
    software = Software(bench, _Registers(busy), None, None)
    asyncio.run(software.launch(region, 1 << 30, 10))


@pytest.mark.parametrize("size_log2", [16, 24])
def test_a_sweep_of_one_entry_a_poll_ends_in_time(size_log2):
    region = Region(size_log2=size_log2)
    _launch(region, region.entries(_PARAMS))


def test_a_device_that_stays_busy_is_given_up():
    with pytest.raises(RegisterError, match=r"STATUS\.busy must become 0"):
        _launch(Region(), 1_000_000)
