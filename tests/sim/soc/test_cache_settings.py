"""Programs with accelerators on PicoRV32 with other caches, beside the exact machine."""

from dataclasses import replace

import pytest

from racetrap.golden_model.noncoherent.oracle import racy_bytes
from racetrap.golden_model.noncoherent.rules import Rule
from racetrap.sim.accelerator.programs.catalogue import ACCELERATOR_PROGRAMS
from racetrap.sim.soc.firmware import image_of
from racetrap.sim.soc.image import read_image
from racetrap.sim.soc.run import run_firmware
from racetrap.sim.soc.systems import SYSTEMS, build_system
from tests.support.planted_bugs import modules_with
from tests.support.soc.planted_bugs import CACHE, WAY_BUGS
from tests.support.soc.systems import needs_core

_SYSTEM = "picorv32"
_BACK = ("ways=4", "line_bytes=32", "lines=16")
_THROUGH = ("ways=2", "write_through=true")
#: The programs align and pad to 64 bytes.
_LONG = ("line_bytes=128",)
pytestmark = [pytest.mark.campaign, needs_core(_SYSTEM)]


def _each(*chosen):
    """Settings as parameters: a build each, for which all wait."""
    return pytest.mark.parametrize("settings", [
        pytest.param(each, id="-".join(each), marks=pytest.mark.xdist_group(f"soc-{each[0]}"))
        for each in chosen
    ])  # fmt: skip


def _run(settings, name, *omissions, **options):
    params = SYSTEMS[_SYSTEM].params_with(settings)
    arguments = [str(ACCELERATOR_PROGRAMS[name].least), *omissions]
    run = run_firmware(_SYSTEM, params, read_image(image_of(name)), arguments, **options)
    assert run.lost_operations == 0
    return run, params.taps.monitor.memory


def _expect_the_machines_word(run, memory):
    """The first report is at the first operation with which memory may be wrong, if any."""
    racy = racy_bytes(memory, list(run.trace))
    first = min((race.later for race in run.races), default=None)
    assert first == (racy[0].operation if racy else None)
    if run.first_wrong is not None:
        assert first is not None
        assert first <= run.first_wrong[1]


@_each(_BACK, _THROUGH)
@pytest.mark.parametrize("name", ACCELERATOR_PROGRAMS)
def test_whole_program_is_silent_and_right(settings, name):
    run, _ = _run(settings, name)
    assert (run.races, run.status, run.wrong_reads) == ((), 0, 0)
    assert len(run.trace) > 60


_OMISSIONS = [
    (name, omission)
    for name, program in ACCELERATOR_PROGRAMS.items()
    for omission in program.omissions
]


@_each(_BACK, _THROUGH)
@pytest.mark.parametrize(("name", "omission"), _OMISSIONS)
def test_omission_is_reported_if_and_only_if_it_can_do_harm(settings, name, omission):
    _expect_the_machines_word(*_run(settings, name, omission))


@_each(_LONG)
@pytest.mark.parametrize("name", ACCELERATOR_PROGRAMS)
def test_line_longer_than_the_padding_is_shared(settings, name):
    run, memory = _run(settings, name)
    _expect_the_machines_word(run, memory)
    assert bool(run.races) == (name in ("adc_ring", "eth_descriptors", "sd_read"))


@_each(_BACK)
def test_line_written_to_another_address_is_wrong_data_without_a_race(settings):
    name, file = "victim-is-written-to-another-address", "soc/picorv32_system.py"
    top = modules_with([CACHE, file], WAY_BUGS[name])[file].Picorv32System
    params, other = SYSTEMS[_SYSTEM].params_with(settings), replace(SYSTEMS[_SYSTEM], top=top)
    program = build_system(_SYSTEM, params, other=other, bug=name)
    run, _ = _run(settings, "mtx_median", program=program)
    assert run.races == ()
    assert run.wrong_reads > 0


@_each(_BACK, _THROUGH)
def test_missing_flush_harms_only_a_cache_that_writes_back(settings):
    run, _ = _run(settings, "crypto", "flush")
    found = {race.rule for race in run.races}
    assert (Rule.DMA_READ_DIRTY in found) == (settings == _BACK)
    assert (run.wrong_reads > 0) == (settings == _BACK)
