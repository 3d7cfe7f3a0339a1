"""Events and the header of a trace."""

from dataclasses import asdict

import pytest

from racetrap.golden_model.events import (
    USUAL_GEOMETRY,
    DataRegion,
    Event,
    EventKind,
    Geometry,
    TraceHeader,
)
from racetrap.golden_model.scord.packets import TransactionKind
from racetrap.golden_model.scord.params import ScordParams

_GEOMETRY = Geometry(1, 1, 1)
_REGION = DataRegion(0, 16)


def test_codes_shared_with_transactions():
    shared = [kind for kind in TransactionKind if kind != TransactionKind.BLOCK_START]
    assert [(kind.name, kind.value) for kind in EventKind][: len(shared)] == [
        (kind.name, kind.value) for kind in shared
    ]


def test_the_usual_gpu_is_that_of_preset_scord():
    params = ScordParams()
    for name, size in asdict(USUAL_GEOMETRY).items():
        assert getattr(params, name) == size


def test_unused_fields_are_zero():
    for value in Event(EventKind.KERNEL_BEGIN)[1:]:
        assert not value


@pytest.mark.parametrize(
    ("make", "error", "sentence"),
    [
        (lambda: Geometry(0, 1, 1), ValueError, "sm_count must be from 1 to 1024, not 0"),
        (lambda: Geometry(1, 65, 1), ValueError, "blocks_per_sm must be from 1 to 64, not 65"),
        (lambda: Geometry(1, 1, 2.0), TypeError, "warps_per_sm must be an integer, not 2.0"),
        (lambda: DataRegion(0, 64), ValueError, "size_log2 must be from 0 to 63, not 64"),
        (lambda: DataRegion(-4, 2), ValueError, "data_base must be from 0"),
        (lambda: DataRegion(8, 4), ValueError, r"multiple of its size 2\*\*4, not 0x8"),
    ],
)
def test_bad_parts(make, error, sentence):
    with pytest.raises(error, match=sentence):
        make()


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"system": "other"}, ValueError, "system must be 'scord', not 'other'"),
        ({"source": None}, TypeError, "source must be a string, not None"),
        ({"source": "a\tb"}, ValueError, "source must be printable"),
        ({"seed": 1 << 64}, ValueError, "seed must be from 0"),
        ({"seed": True}, TypeError, "seed must be an integer, not True"),
        ({"locations": {"8": "a"}}, TypeError, "PC of a location must be an integer, not '8'"),
        ({"locations": {1 << 32: "a"}}, ValueError, "PC of a location must be from 0"),
        ({"locations": {8: 7}}, TypeError, "Location of pc 0x8 must be a string, not 7"),
        ({"locations": {8: "a\nb"}}, ValueError, "Location of pc 0x8 must be printable"),
    ],
)
def test_bad_header(change, error, sentence):
    with pytest.raises(error, match=sentence):
        TraceHeader(**{"geometry": _GEOMETRY, "region": _REGION} | change)
