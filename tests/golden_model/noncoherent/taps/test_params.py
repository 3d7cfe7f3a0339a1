"""Parameters that taps refuse, and a system that they accept."""

from dataclasses import replace

import pytest

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.noncoherent.taps.params import (
    Attribute,
    EngineRegisters,
    MaintenanceWord,
    Region,
    TapParams,
)
from racetrap.golden_model.trace.noncoherent.operations import OperationKind
from tests.support.noncoherent.taps.system import PARAMS


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Region(0, 24, Attribute.CACHED), "Size of a region must be a power of two"),
        (lambda: Region(8, 16, Attribute.CACHED), "Base of a region must be a multiple"),
        (lambda: Region(0, 16, Attribute.CACHED, 8), "Target of a region must be a multiple"),
        (lambda: MaintenanceWord(0xF, 0x10, OperationKind.FLUSH_ALL), "must lie under its mask"),
        (lambda: MaintenanceWord(0xF, 1, OperationKind.SYNC), "must be maintenance"),
        (lambda: EngineRegisters(length=0, start=4, status=8, read_mask=1), "register source if"),
        (lambda: EngineRegisters(length=0, start=4, status=8, target=12), "register target if"),
        (lambda: replace(PARAMS, depth=3), "Depth of the queue must be a power of two, not 3"),
        (lambda: replace(PARAMS, windows=17), "Windows must be from 0 to 16, not 17"),
        (
            lambda: TapParams(monitor=NoncoherentParams(tag_bits=16), regions=()),
            "Parameter tag_bits of the monitor must be 32, not 16",
        ),
    ],
)
def test_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
