"""Presets and settings."""

import dataclasses

import pytest

from racetrap.generators.presets import PRESETS, find_preset, module_name, with_settings
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.sigrace.params import SigraceParams


def test_the_paper_is_the_default():
    assert PRESETS["scord"].params == ScordParams()
    assert PRESETS["sigrace"].params == SigraceParams()
    assert set(PRESETS) == {
        "scord-tiny", "scord", "scord-nocache", "scord-8byte", "scord-16byte", "scord-banks4",
        "scord-wide", "scord-local", "sigrace-tiny", "sigrace", "noncoherent-tiny", "noncoherent",
        "noncoherent-thesis", "noncoherent-bitmap", "noncoherent-prefetch",
        "noncoherent-engines4", "noncoherent-wide",
        "noncoherent-axi",
    }  # fmt: skip


def test_every_preset_is_frozen_and_has_a_line_of_its_own():
    assert len({preset.summary for preset in PRESETS.values()}) == len(PRESETS)
    for name, preset in PRESETS.items():
        assert preset.name == name
        assert "\n" not in preset.summary
        with pytest.raises(dataclasses.FrozenInstanceError):
            preset.params = ScordParams()
    with pytest.raises(TypeError):
        PRESETS["new"] = PRESETS["scord"]


def test_unknown_preset():
    with pytest.raises(ValueError, match=r"Preset must be one of scord-tiny, .*, not scrod"):
        find_preset("scrod")


def test_module_name_is_an_identifier():
    assert [module_name(name) for name in ("scord", "scord-banks4")] == ["scord", "scord_banks4"]


def test_settings_change_parameters():
    params = with_settings(ScordParams(), ["ratio=4", "address_bits=0x20", "trace_port=false"])
    assert params == ScordParams(ratio=4, address_bits=32, trace_port=False)
    assert with_settings(params, []) == params


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["ratio"], "Setting must be name=value, not ratio"),
        (["ration=4"], "Setting name must be one of sm_count, .*, not ration"),
        (["ratio=four"], "Setting ratio must be a whole number, not 'four'"),
        (["ratio="], "Setting ratio must be a whole number, not ''"),
        (["trace_port=1"], "Setting trace_port must be true or false, not '1'"),
        (["ratio=4", "ratio=8"], "Setting ratio must be given once, not again as 8"),
        (["ratio=3"], "Parameter ratio must be a power of two, not 3"),
        (["banks=2048"], "Parameter banks must be from 1 to 1024, not 2048"),
        (["sm_count=64", "ratio=64", "fence_id_bits=16"], "Metadata entry must fit in 64 bits"),
        (["local_bytes=8", "banks=4"], "Parameter local_bytes must be 0 or a power of two"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        with_settings(ScordParams(), settings)
