"""Families and their devices."""

import pytest

from racetrap.fpga.flow.families import FAMILIES, family


def test_first_device_is_the_default():
    assert family("ecp5").device.name == "LFE5U-85F, CABGA381, speed grade 6"
    for name, one in FAMILIES.items():
        assert one.name == name
        assert one.device is next(iter(one.devices.values()))


def test_device_is_selected():
    found = family("ice40", "up5k")
    assert found.device == FAMILIES["ice40"].devices["up5k"]
    assert FAMILIES["ice40"].device == FAMILIES["ice40"].devices["hx8k"]


def test_unknown_family():
    with pytest.raises(ValueError, match=r"^Unknown family 'x': choose ecp5, ice40, xc7 or asic$"):
        family("x")


def test_unknown_device():
    with pytest.raises(ValueError, match=r"^Unknown device of ice40 '85k': choose hx8k or up5k$"):
        family("ice40", "85k")


def test_only_the_library_has_areas():
    assert [name for name, one in FAMILIES.items() if one.has_area] == ["asic"]
