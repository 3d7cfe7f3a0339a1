"""Parameters of the bus monitor."""

import pytest

from racetrap.golden_model.configuration import configuration_hash
from racetrap.golden_model.noncoherent.params import Mode, NoncoherentParams
from racetrap.golden_model.noncoherent.state import state_bits


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mode": "exact"}, "Unknown value of mode 'exact': choose strict or thesis"),
        ({"line_bytes": 24}, "Parameter line_bytes must be a power of two, not 24"),
        ({"granule_bytes": 64}, "Parameter granule_bytes must be at most line_bytes, 32, not 64"),
        ({"entries": 1}, "Parameter entries must be from 2 to 64, not 1"),
        ({"engines": 65}, "Parameter engines must be from 1 to 64, not 65"),
        ({"address_bits": 49}, "Parameter address_bits must be from 16 to 48, not 49"),
        ({"window_bytes": 4096}, "Parameter window_bytes must be 0 in mode strict, not 4096"),
        (
            {"mode": "thesis", "window_bytes": 1024},
            "Parameter window_bytes must be 0 or a power of two from 2048, not 1024",
        ),
        (
            {"mode": "thesis", "window_bytes": 4096, "window_base": 512},
            "Parameter window_base must be a multiple of 1024 up to 4294963200, not 512",
        ),
        (
            {"mode": "thesis", "window_bytes": 4096, "write_through": True},
            "Parameter window_bytes must be 0 with write_through, not 4096",
        ),
        ({"window_base": 1024}, "Parameter window_base must be 0 without a window, not 1024"),
    ],
)
def test_bad_parameters(settings, message):
    with pytest.raises(ValueError, match=message):
        NoncoherentParams(**settings)


def test_wrong_types():
    with pytest.raises(TypeError, match="Parameter prefetch must be true or false, not 1"):
        NoncoherentParams(prefetch=1)
    with pytest.raises(TypeError, match="Parameter entries must be an integer"):
        NoncoherentParams(entries=True)


def test_sets_and_state_of_each_mode():
    strict = NoncoherentParams(engines=2)
    assert strict.set_names == (
        "dirty_granules", "dirty_bytes", "valid", "stale",
        "writing_0", "reading_0", "writing_1", "reading_1",
    )  # fmt: skip
    assert "valid" not in NoncoherentParams(prefetch=True).set_names
    thesis = NoncoherentParams(mode="thesis")
    assert thesis.mode is Mode.THESIS
    assert thesis.set_names == ("dirty_granules", "writing_0", "reading_0")
    each = 8 * (32 + 33 + 32 + 1 + 1 + 1)
    assert state_bits(strict) == {
        "dirty": 2 * each, "valid": each, "stale": each, "dma": 4 * each
    }  # fmt: skip
    assert state_bits(thesis) == {"dirty": each, "valid": 0, "stale": 0, "dma": 2 * each}
    through = NoncoherentParams(write_through=True)
    assert through.set_names == ("valid", "stale", "writing_0", "reading_0")
    assert state_bits(through) == {"dirty": 0, "valid": each, "stale": each, "dma": 2 * each}
    # A bit a granule, and a tag and a bit a word and for what lies outside.
    bitmap = NoncoherentParams(mode="thesis", window_bytes=4096)
    assert state_bits(bitmap)["dirty"] == 4 * (32 + 32 + 1) + 32 + 1


def test_a_report_fits_its_record_in_the_widest_instance():
    widest = NoncoherentParams(address_bits=48, tag_bits=32, engines=64)
    assert widest.report_layout.width <= 256


def test_write_through_changes_no_other_configuration():
    """Names and identification of instances without it are those from before there was one."""
    assert configuration_hash(NoncoherentParams()) == 182817262
    assert configuration_hash(NoncoherentParams(write_through=True)) != 182817262
