"""Programs with accelerators on the live system, beside the recorder, the software and the exact
machine; and a cache with a bug."""

import io
import tempfile
from dataclasses import replace
from importlib.util import find_spec

import pytest
from rich.console import Console

from racetrap.golden_model.noncoherent.noncoherent import Noncoherent, has_races
from racetrap.golden_model.noncoherent.oracle import racy_bytes
from racetrap.presenters.race_choice import RaceChoice
from racetrap.presenters.soc_runs import print_soc_run
from racetrap.rtl.soc.params import SocParams
from racetrap.sim.accelerator.compiled.detector import run_compiled
from racetrap.sim.accelerator.programs.catalogue import ACCELERATOR_PROGRAMS
from racetrap.sim.accelerator.recorder import record_accelerator
from racetrap.sim.failure import Failure
from racetrap.sim.soc.firmware import MONITORED, image_of
from racetrap.sim.soc.image import read_image
from racetrap.sim.soc.left_out import runs_without_each
from racetrap.sim.soc.run import run_firmware
from racetrap.sim.soc.systems import build_system
from racetrap.verdict.accelerators.needless import without_each
from tests.support.planted_bugs import modules_with
from tests.support.soc.planted_bugs import CACHE, CACHE_BUGS

pytestmark = [
    pytest.mark.campaign,
    pytest.mark.skipif(
        find_spec("pythondata_cpu_picorv32") is None, reason="Core PicoRV32: extra soc"
    ),
    # One build, which all wait for.
    pytest.mark.xdist_group("soc"),
]
_PARAMS = SocParams()
_MEMORY = _PARAMS.taps.monitor.memory
_CRYPTO = ACCELERATOR_PROGRAMS["crypto"]
#: Records of the firmware's ring.
_RING = 64
_WORDS = ("possible", "definite")


def _run(name, *omissions, seed=1):
    program = ACCELERATOR_PROGRAMS[name]
    image = read_image(image_of(name))
    return run_firmware("picorv32", _PARAMS, image, [str(program.least), *omissions], seed=seed)


def _host_output(name):
    """What the program prints on the host."""
    program = ACCELERATOR_PROGRAMS[name]
    with tempfile.TemporaryFile("w+") as file:
        record_accelerator(
            [program.source], [str(program.least)], memory=_MEMORY, allocator=program.allocator,
            output=file,
        )  # fmt: skip
        file.seek(0)
        return file.read()


@pytest.mark.parametrize("name", ACCELERATOR_PROGRAMS)
def test_whole_program_is_silent_and_right(name):
    run = _run(name)
    assert run.races == ()
    assert run.console == _host_output(name)
    assert (run.status, run.wrong_reads, run.lost_operations, run.empty_operations) == (0,) * 4
    assert len(run.trace) > 60


_OMISSIONS = [
    (name, omission)
    for name, program in ACCELERATOR_PROGRAMS.items()
    for omission in program.omissions
]


@pytest.mark.parametrize(("name", "omission"), _OMISSIONS)
def test_omission_is_reported_if_and_only_if_it_can_do_harm(name, omission):
    run = _run(name, omission)
    racy = racy_bytes(_MEMORY, list(run.trace))
    assert bool(run.races) == bool(racy)
    assert run.lost_operations == 0
    found = run_compiled(Noncoherent(_MEMORY), run.trace.events)
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
def test_needless_maintenance_is_the_machines(name):
    whole, image = _run(name), read_image(image_of(name))
    size = str(ACCELERATOR_PROGRAMS[name].least)
    places = list(runs_without_each("picorv32", _PARAMS, image, [size], whole))
    judged = without_each(whole.trace, Noncoherent(_MEMORY), asks_machine=True)
    assert [(each.pc, each.is_needless) for each in places] == [
        (each.pc, each.is_needless) for each in judged
    ]
    assert len(places) > 1


def test_wrong_data_without_a_race_is_the_caches():
    """A flush that forgets to clean: the program is right, memory is wrong."""
    bug = CACHE_BUGS["flush-forgets-to-clean"]
    top = modules_with([CACHE, "soc/picorv32_system.py"], bug)["soc/picorv32_system.py"]
    program = build_system("picorv32", _PARAMS, make=top.Picorv32System, bug="forgets-to-clean")
    image = read_image(image_of("crypto"))
    run = run_firmware("picorv32", _PARAMS, image, ["2"], program=program)
    assert run.races == ()
    assert run.wrong_reads > 0
    console = Console(record=True, width=200, file=io.StringIO())
    print_soc_run(console, RaceChoice(), run)
    assert "look at the cache" in console.export_text()


@pytest.mark.parametrize("omissions", [(), *((each,) for each in _CRYPTO.omissions)], ids=str)
def test_firmware_reads_the_reports_that_the_host_sees(omissions):
    """The program with its own monitor; what it leaves out is the planted fault."""
    arguments = [str(_CRYPTO.least), *omissions]
    run = run_firmware("picorv32", _PARAMS, read_image(image_of(MONITORED)), arguments)
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
    assert bool(run.races) == bool(_run("crypto", *omissions).races)


@pytest.mark.parametrize("name", ["crypto", "scatter_gather", "vec_add"])
def test_the_monitors_clock_stops_unseen(name):
    program = ACCELERATOR_PROGRAMS[name]
    image, arguments = read_image(image_of(name)), [str(program.least), program.omissions[0]]
    stopped, running = (
        run_firmware("picorv32", _PARAMS, image, arguments, monitor_cycles=cycles)
        for cycles in (4, 1 << 40)
    )
    assert list(stopped.trace) == list(running.trace)
    assert replace(stopped, trace=None) == replace(running, trace=None)
    assert running.races != ()
    with pytest.raises(Failure, match="it has checked"):
        run_firmware("picorv32", _PARAMS, image, arguments, monitor_cycles=0)


def test_seed_sets_the_delays():
    one, same, other = (_run("adc_ring", seed=seed) for seed in (1, 1, 2))
    assert one.cycles == same.cycles != other.cycles
    assert one.console == other.console
