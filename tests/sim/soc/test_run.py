"""Programs with accelerators on the live systems, beside the recorder, the software and the exact
machine; and caches with a bug."""

import io
import tempfile
from dataclasses import replace
from functools import cache

import pytest
from rich.console import Console

from racetrap.golden_model.noncoherent.noncoherent import Noncoherent, has_races
from racetrap.golden_model.noncoherent.oracle import racy_bytes
from racetrap.presenters.race_choice import RaceChoice
from racetrap.presenters.soc_runs import print_soc_run
from racetrap.sim.accelerator.compiled.detector import run_compiled
from racetrap.sim.accelerator.programs.catalogue import ACCELERATOR_PROGRAMS
from racetrap.sim.accelerator.recorder import record_accelerator
from racetrap.sim.failure import Failure
from racetrap.sim.soc.firmware import MONITORED, image_of
from racetrap.sim.soc.image import Image, read_image
from racetrap.sim.soc.left_out import runs_without_each
from racetrap.sim.soc.run import run_firmware
from racetrap.sim.soc.systems import SYSTEMS, build_system
from racetrap.verdict.accelerators.needless import without_each
from tests.support.planted_bugs import modules_with
from tests.support.soc.planted_bugs import CACHE, CACHE_BUGS
from tests.support.soc.systems import EACH_SYSTEM

pytestmark = [pytest.mark.campaign, pytest.mark.parametrize("system", EACH_SYSTEM)]
_CRYPTO = ACCELERATOR_PROGRAMS["crypto"]
#: Records of the firmware's ring.
_RING = 64
_WORDS = ("possible", "definite")


def _memory(system):
    return SYSTEMS[system].params.taps.monitor.memory


def _run_image(system, image, arguments, **options):
    return run_firmware(system, SYSTEMS[system].params, image, arguments, **options)


def _run(system, name, *omissions, **options):
    arguments = [str(ACCELERATOR_PROGRAMS[name].least), *omissions]
    return _run_image(system, read_image(image_of(name)), arguments, **options)


@cache
def _host_output(memory, name):
    """What the program prints on the host."""
    program = ACCELERATOR_PROGRAMS[name]
    with tempfile.TemporaryFile("w+") as file:
        record_accelerator(
            [program.source], [str(program.least)], memory=memory, allocator=program.allocator,
            output=file,
        )  # fmt: skip
        file.seek(0)
        return file.read()


@pytest.mark.parametrize("name", ACCELERATOR_PROGRAMS)
def test_whole_program_is_silent_and_right(system, name):
    run = _run(system, name)
    assert run.races == ()
    assert run.console == _host_output(_memory(system), name)
    assert (run.status, run.wrong_reads, run.lost_operations, run.empty_operations) == (0,) * 4
    assert len(run.trace) > 60


_OMISSIONS = [
    (name, omission)
    for name, program in ACCELERATOR_PROGRAMS.items()
    for omission in program.omissions
]


@pytest.mark.parametrize(("name", "omission"), _OMISSIONS)
def test_omission_is_reported_if_and_only_if_it_can_do_harm(system, name, omission):
    run = _run(system, name, omission)
    racy = racy_bytes(_memory(system), list(run.trace))
    assert bool(run.races) == bool(racy)
    assert run.lost_operations == 0
    found = run_compiled(Noncoherent(_memory(system)), run.trace.events)
    assert has_races(found.races) == bool(racy)
    # The first report is that of the software on the same operations, and of the machine.
    first = min((race.later for race in run.races), default=None)
    assert first == found.first == (racy[0].operation if racy else None)
    if run.first_wrong is not None:
        assert first is not None
        assert first <= run.first_wrong[1]


@pytest.mark.parametrize(
    "name", [name for name, each in ACCELERATOR_PROGRAMS.items() if each.group == "firmware"]
)
def test_needless_maintenance_is_the_machines(system, name):
    whole, image = _run(system, name), read_image(image_of(name))
    size, params = str(ACCELERATOR_PROGRAMS[name].least), SYSTEMS[system].params
    places = list(runs_without_each(system, params, image, [size], whole))
    judged = without_each(whole.trace, Noncoherent(_memory(system)), asks_machine=True)
    assert [(each.pc, each.is_needless) for each in places] == [
        (each.pc, each.is_needless) for each in judged
    ]
    assert len(places) > 1


def _with_a_flush_that_does_too_little(system):
    """A system whose cache has a bug: it forgets to clean, or to flush at all."""
    found = SYSTEMS[system]
    if system == "vexriscv":
        flush = "assign dataCache_1_io_cpu_flush_valid = "
        return replace(
            found, adapt=lambda text: found.adapt(text).replace(flush, f"{flush}1'b0 && ")
        )
    bug, file = CACHE_BUGS["flush-forgets-to-clean"], "soc/picorv32_system.py"
    return replace(found, top=modules_with([CACHE, file], bug)[file].Picorv32System)


def test_wrong_data_without_a_race_is_the_caches(system):
    """The program is right, memory is wrong."""
    other = _with_a_flush_that_does_too_little(system)
    program = build_system(system, other.params, other=other, bug="flush-does-too-little")
    run = _run(system, "scatter_gather", program=program)
    assert run.races == ()
    assert run.wrong_reads > 0
    console = Console(record=True, width=200, file=io.StringIO())
    print_soc_run(console, RaceChoice(), run)
    assert "look at the cache" in console.export_text()


def test_core_that_meets_an_error_ends_the_run(system, tmp_path):
    with pytest.raises(Failure, match="the core meets an error"):
        _run_image(system, Image(tmp_path / "illegal", {0: 0}, ()), [])


@pytest.mark.parametrize("omissions", [(), *((each,) for each in _CRYPTO.omissions)], ids=str)
def test_firmware_reads_the_reports_that_the_host_sees(system, omissions):
    """The program with its own monitor; what it leaves out is the planted fault."""
    arguments = [str(_CRYPTO.least), *omissions]
    run = _run_image(system, read_image(image_of(MONITORED)), arguments)
    own = [line for line in run.console.splitlines() if line.startswith("monitor: ")]
    pcs = [operation.pc for operation in run.trace]
    due = [
        f"monitor: rule {race.rule.value}, {_WORDS[race.is_definite]}, bytes {race.first:08x} to "
        f"{race.last:08x}, pc {pcs[race.earlier]:x} and later {pcs[race.later]:x}"
        for race in run.races
    ]
    reports = len(own) - 1
    assert own[:-1] == due[:reports]
    records = len({(race.later, race.first) for race in run.races})
    assert own[-1] == f"monitor: {reports} reports, {max(0, records - _RING)} records dropped"
    assert (reports < len(due)) == (records > _RING)
    # The monitor's software changes nothing of the program.
    assert bool(run.races) == bool(_run(system, "crypto", *omissions).races)


@pytest.mark.parametrize("name", ["crypto", "scatter_gather", "vec_add"])
def test_the_monitors_clock_stops_unseen(system, name):
    omission = "wait" if name != "vec_add" else "sync"
    stopped, running = (
        _run(system, name, omission, monitor_cycles=cycles) for cycles in (4, 1 << 40)
    )
    assert list(stopped.trace) == list(running.trace)
    assert replace(stopped, trace=None) == replace(running, trace=None)
    assert running.races != ()
    with pytest.raises(Failure, match="it has checked"):
        _run(system, name, omission, monitor_cycles=0)


def test_seed_sets_the_delays(system):
    one, same, other = (_run(system, "adc_ring", seed=seed) for seed in (1, 1, 2))
    assert one.cycles == same.cycles != other.cycles
    assert one.console == other.console
