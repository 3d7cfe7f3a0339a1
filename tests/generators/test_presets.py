"""Presets and settings."""

import dataclasses
import re

import pytest

from racetrap.generators.artefacts import generate
from racetrap.generators.causality import CAUSALITY
from racetrap.generators.presets import (
    PRESETS,
    configuration_name,
    find_preset,
    module_name,
    settings_of,
    with_settings,
)
from racetrap.generators.scord import SCORD
from racetrap.generators.systems import SYSTEMS
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.sigrace.params import SigraceParams


def test_the_paper_is_the_default():
    assert PRESETS["scord"].params == ScordParams()
    assert PRESETS["sigrace"].params == SigraceParams()
    assert PRESETS["hirace"].params == HiraceParams()
    assert PRESETS["causality"].params == CausalityParams()
    assert set(PRESETS) == {
        "scord-tiny", "scord", "scord-nocache", "scord-8byte", "scord-16byte", "scord-banks4",
        "scord-wide", "scord-local", "sigrace-tiny", "sigrace", "noncoherent-tiny", "noncoherent",
        "noncoherent-thesis", "noncoherent-bitmap", "noncoherent-prefetch",
        "noncoherent-engines4", "noncoherent-wide",
        "noncoherent-axi", "hirace-tiny", "hirace", "hirace-global", "hirace-banks4", "hirace-once",
        "causality-tiny", "causality", "causality-nocache", "causality-wide",
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


def test_presets_of_real_gpus():
    """Published SMs and L2 slices; each entry is full, and nothing is refused."""
    sizes = {"scord-v100": (80, 64), "scord-a100": (108, 80)}
    assert set(SCORD.large_presets) == set(sizes)
    for name, (sms, slices) in sizes.items():
        params = find_preset(name).params
        assert (params.sm_count, params.metadata_ports, params.words_per_cycle) == (sms, slices, 8)
        assert (params.blocks_per_sm, params.warps_per_sm) == (32, 64)
        assert params.entry_layout_bits == 64


def test_causality_has_the_same_real_gpus():
    """A bank at each slice, as far as their number is a power of two."""
    assert [name.partition("-")[2] for name in CAUSALITY.large_presets] == ["v100", "a100"]
    for name, preset in CAUSALITY.large_presets.items():
        gpu = find_preset(name.replace("causality", "scord")).params
        for size in ("sm_count", "blocks_per_sm", "warps_per_sm", "outstanding"):
            assert getattr(preset.params, size) == getattr(gpu, size)
        assert preset.params.banks <= gpu.metadata_ports < 2 * preset.params.banks
        assert preset.params.entry_layout_bits <= 128


@pytest.mark.campaign
@pytest.mark.parametrize("name", [*SCORD.large_presets, *CAUSALITY.large_presets])
def test_a_real_gpu_is_generated(name, tmp_path):
    """Every SM and slice is an instance of one module."""
    params = find_preset(name).params
    verilog = generate(name, params, tmp_path, parts=[""])["verilog"].read_text()
    counts = {"tracker": params.sm_count, "bank": params.metadata_ports}
    for part, count in counts.items():
        assert (
            len(re.findall(rf"^  {module_name(name)}_{part} {part}_\d+ \(", verilog, re.M)) == count
        )
    assert len(re.findall(r"^module ", verilog, re.M)) < 60


def test_unknown_preset():
    with pytest.raises(ValueError, match=r"Unknown preset 'scrod': did you mean 'scord'"):
        find_preset("scrod")


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_settings_of_a_configuration_make_it(system):
    preset = system.name
    for number in range(20):
        made = system.random(number)
        settings = settings_of(preset, made)
        assert with_settings(PRESETS[preset].params, settings) == made
        assert configuration_name(preset, made) != preset
    assert settings_of(preset, PRESETS[preset].params) == []
    assert configuration_name(preset, PRESETS[preset].params) == preset


def test_settings_of_another_detector():
    with pytest.raises(ValueError, match="Parameters of preset scord must be ScordParams"):
        settings_of("scord", PRESETS["sigrace"].params)


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
        (["ration=4"], "Unknown setting 'ration': did you mean 'ratio'"),
        (["ratio=four"], "Setting ratio must be a whole number, not 'four'"),
        (["ratio="], "Setting ratio must be a whole number, not ''"),
        (["trace_port=1"], "Setting trace_port must be true or false, not '1'"),
        (["ratio=4", "ratio=8"], "Setting ratio is given twice, again as 8"),
        (["ratio=3"], "Parameter ratio must be a power of two, not 3"),
        (["banks=2048"], "Parameter banks must be from 1 to 1024, not 2048"),
        (["sm_count=64", "ratio=64", "fence_id_bits=16"], "Metadata entry must fit in 64 bits"),
        (["local_bytes=8", "banks=4"], "Parameter local_bytes must be 0 or a power of two"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        with_settings(ScordParams(), settings)
