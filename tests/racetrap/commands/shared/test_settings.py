"""Settings of a run beside those of a detector."""

from dataclasses import fields

import pytest

from racetrap.commands.shared.settings import (
    ACCELERATOR_SETTINGS,
    THREAD_SETTINGS,
    AcceleratorRun,
    memory_with,
)
from racetrap.generators.presets import PRESETS, with_all_settings
from racetrap.generators.systems import SYSTEMS
from racetrap.golden_model.sigrace.run_settings import HardwareRun, SigraceRun
from racetrap.golden_model.trace.noncoherent.operations import MemorySystem


def _names(*parts):
    return [field.name for part in parts for field in fields(part)]


def test_every_setting_is_shown():
    shown = [name.partition("=")[0] for name, _ in THREAD_SETTINGS]
    assert set(shown) == set(_names(SigraceRun))
    shown = {name.partition("=")[0] for name, _ in ACCELERATOR_SETTINGS}
    assert shown == {*_names(AcceleratorRun, MemorySystem)} - {"engines"}


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_no_setting_has_the_name_of_a_parameter(system):
    names, run = set(_names(system.params)), system.own("commands.shared.detectors").RUN
    assert not names & set(_names(run, *([SigraceRun] if isinstance(run, HardwareRun) else [])))


def test_each_part_takes_its_own():
    params, run = with_all_settings(
        ["cores=2", "environment=multiplex", "unbounded=true"],
        PRESETS["sigrace"].params, SigraceRun(),
    )  # fmt: skip
    assert (params.cores, run) == (2, SigraceRun("multiplex", unbounded=True))
    assert run.sigrace(params).environment.name == "multiplex"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["environment=lake"], "Unknown environment 'lake'"),
        (["unbounded=1"], "Setting unbounded must be true or false, not '1'"),
        (["checkpoint_interval=0"], "Checkpoint interval"),
        (["depth=3"], "depth"),
    ],
)
def test_what_is_refused(settings, words):
    params = PRESETS["sigrace"].params
    with pytest.raises(ValueError, match=words):
        with_all_settings(settings, params, SigraceRun())[1].sigrace(params)


def test_a_granule_is_a_line_if_only_the_line_is_given():
    (memory,) = memory_with(MemorySystem(), ["line_bytes=64"])
    assert (memory.line_bytes, memory.granule_bytes) == (64, 64)
    (memory,) = memory_with(MemorySystem(), ["line_bytes=64", "granule_bytes=16"])
    assert (memory.line_bytes, memory.granule_bytes) == (64, 16)
