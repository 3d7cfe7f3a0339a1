"""Race reports: contents, record and words."""

import pytest

from racetrap.golden_model.events import Scope
from racetrap.golden_model.scord.packets import RaceKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.report import RaceReport, race_words

BLOCK, DEVICE = Scope.BLOCK, Scope.DEVICE


def only_race(gpu) -> RaceReport:
    (race,) = gpu.scord.races
    return race


def test_record_is_32_bytes_with_fields_on_byte_boundaries():
    layout = ScordParams().report_layout
    assert layout.width == 256
    offsets = {name: offset for name, offset, width in layout.flat() if width >= 8}
    for offset in offsets.values():
        assert offset % 8 == 0


def test_both_parties_and_the_record(gpu):
    gpu.store(0, warp=2, word=9)
    gpu.load(1, warp=3, word=9)
    race = only_race(gpu)
    assert (race.address, race.warp, race.owner_warp % 8) == (36, race.warp, 2)
    assert race.block != race.owner_block
    assert (race.kind, race.strong, race.owner_strong, race.owner_modified) == (0, 1, 1, 1)
    assert race.device_race == 1
    assert RaceReport.from_record(race.record()) == race


def make_missing_block_fence(gpu):
    gpu.store(0)
    gpu.load(0, warp=1)


def make_missing_device_fence(gpu):
    gpu.store(0)
    gpu.load(1)


def make_not_strong(gpu):
    gpu.store(0, strong=False)
    gpu.fence(0, DEVICE)
    gpu.load(1, strong=False)


def make_scoped_atomic(gpu):
    gpu.atomic(0, BLOCK)
    gpu.atomic(1, DEVICE)


def make_missing_lock_on_load(gpu):
    gpu.lock(0, DEVICE)
    gpu.store(0)
    gpu.fence(0, DEVICE)
    gpu.load(1)


def make_missing_lock_on_store(gpu):
    gpu.lock(0, DEVICE)
    gpu.load(0)
    gpu.load(0, warp=1)
    gpu.fence(0, DEVICE)
    gpu.store(0, warp=1)


@pytest.mark.parametrize(
    ("make", "race", "letter", "scope", "words"),
    [
        (make_missing_block_fence, RaceKind.MISSING_BLOCK_FENCE, "a", BLOCK, "load of 0x0"),
        (make_missing_device_fence, RaceKind.MISSING_DEVICE_FENCE, "b", DEVICE, "the write by"),
        (make_not_strong, RaceKind.NOT_STRONG, "c", DEVICE, "weak load of 0x0"),
        (make_scoped_atomic, RaceKind.SCOPED_ATOMIC, "d", DEVICE, "device-scope atomic of"),
        (make_missing_lock_on_load, RaceKind.MISSING_LOCK, "e", DEVICE, "no lock in common"),
        (make_missing_lock_on_store, RaceKind.MISSING_LOCK, "f", BLOCK, "also read by other warps"),
    ],
)
def test_every_condition_of_table_iv(gpu, make, race, letter, scope, words):
    make(gpu)
    report = only_race(gpu)
    assert (report.race, report.table_iv, report.race_scope) == (race, letter, scope)
    sentence = report.sentence()
    assert sentence.startswith(f"{race_words(race)} ({scope.name.lower()} scope): ")
    assert words in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_words():
    assert [race_words(kind) for kind in RaceKind if kind] == [
        "missing-block-fence", "missing-device-fence", "not-strong", "scoped-atomic",
        "missing-lock",
    ]  # fmt: skip
