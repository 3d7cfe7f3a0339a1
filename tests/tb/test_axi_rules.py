"""The checks of the AXI4 rules: each must find a breach, and nothing in legal traffic."""

import pytest

from racetrap.golden_model.layout import Layout
from racetrap.tb.axi_rules import AxiViolation, ChannelWatch, check_address

_VALID, _READY = 1, 2
_LEGAL = {"len": 3, "size": 3, "burst": 1, "lock": 0, "addr": 0x1FE0}


class _Pins:
    """A channel whose payload is set by the test."""

    payload = 0

    def flag(self, name):
        return {"awvalid": _VALID, "awready": _READY}[name]

    def handshake(self, name):
        return _VALID | _READY

    def bundle(self, name):
        return Layout({"addr": 8})

    def reader(self, name):
        return lambda: self.payload


@pytest.fixture
def pins():
    return _Pins()


@pytest.fixture
def watch(pins):
    return ChannelWatch(pins, "aw")


def test_payload_is_given_when_it_is_handed_over(pins, watch):
    pins.payload = 7
    assert watch.look(_READY) is None
    assert watch.look(_VALID) is None
    assert watch.look(_VALID | _READY) == {"addr": 7}
    pins.payload = 8
    assert watch.look(_VALID | _READY) == {"addr": 8}
    assert watch.look(0) is None


def test_valid_must_not_fall_before_ready(watch):
    watch.look(_VALID)
    with pytest.raises(AxiViolation, match="awvalid must stay high until ready"):
        watch.look(_READY)


def test_payload_must_not_change_before_ready(pins, watch):
    watch.look(_VALID)
    pins.payload = 9
    with pytest.raises(AxiViolation, match="aw payload must not change from 0x0 to 0x9"):
        watch.look(_VALID | _READY)


def test_legal_address_passes():
    check_address("aw", _LEGAL, 4)
    check_address("aw", _LEGAL | {"len": 0, "size": 4, "burst": 0}, 1, beat_bytes=16)


@pytest.mark.parametrize(("name", "value"), [("size", 3), ("addr", 0x1FE8)])
def test_illegal_address_of_wide_beats_is_found(name, value):
    with pytest.raises(AxiViolation, match=f"aw{name}"):
        check_address("aw", _LEGAL | {"len": 0, "size": 4, name: value}, 1, beat_bytes=16)


@pytest.mark.parametrize(
    ("name", "value"),
    [("len", 2), ("size", 2), ("burst", 0), ("lock", 1), ("addr", 0x1FE4), ("addr", 0x1FF0)],
)
def test_illegal_address_is_found(name, value):
    with pytest.raises(AxiViolation, match=f"aw{name}"):
        check_address("aw", _LEGAL | {name: value}, 4)
