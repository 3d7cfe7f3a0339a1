"""Tops of boards: a detector without a device is refused."""

import pytest

from racetrap.fpga.boards.board_top import device_of
from racetrap.fpga.boards.table import BOARDS
from racetrap.generators.presets import find_preset
from racetrap.generators.system import System


def test_detector_without_a_device_is_refused(monkeypatch):
    monkeypatch.setattr(System, "has", lambda self, *part: False)
    with pytest.raises(ValueError, match=r"with a device for boards, not scord$"):
        device_of(next(iter(BOARDS.values())), find_preset("scord-local").params, 8)
