"""`racetrap soc run`: what it refuses, what it prints, and the traces that it writes."""

import json
from dataclasses import asdict, replace
from importlib.util import find_spec

import pytest

from racetrap.golden_model.noncoherent.races import MonitorRace
from racetrap.golden_model.noncoherent.rules import Rule
from racetrap.golden_model.trace import NoncoherentTrace
from racetrap.golden_model.trace.noncoherent.operations import (
    NoncoherentTraceHeader,
    Operation,
)
from racetrap.golden_model.trace.noncoherent.operations import OperationKind as K
from racetrap.rtl.soc.cache import CacheParams
from racetrap.sim.failure import Failure
from racetrap.sim.soc import systems
from racetrap.sim.soc.firmware import image_of
from racetrap.sim.soc.run import SystemRun
from tests.support.soc.systems import EACH_SYSTEM

_NEEDS_CORE = [
    pytest.mark.campaign,
    pytest.mark.skipif(
        find_spec("pythondata_cpu_picorv32") is None, reason="Core PicoRV32: extra soc"
    ),
    pytest.mark.xdist_group("soc-picorv32"),
]
_CRYPTO = str(image_of("crypto"))


def test_unknown_system(racetrap):
    result = racetrap("soc", "run", "picrv32", _CRYPTO)
    assert result.exit_code == 2
    assert "picorv32" in result.stderr


@pytest.mark.parametrize(
    ("system", "setting", "message"),
    [
        ("picorv32", "ways=3", "Ways of the cache must be 1, 2 or 4, not 3"),
        ("picorv32", "way=2", "Unknown setting 'way': did you mean 'ways'?"),
        ("vexriscv", "ways=2", "Setting ways=2 is of picorv32's cache: this core has its own"),
    ],
)
def test_settings_that_are_refused(racetrap, system, setting, message):
    result = racetrap("soc", "run", system, _CRYPTO, "--set", setting)
    assert result.exit_code == 2
    assert message in result.stderr


def test_settings_are_those_of_the_cache(racetrap, monkeypatch):
    taken = []

    def run(system, params, *args, **options):
        taken.append(params.cache)
        return _RUN

    monkeypatch.setattr("racetrap.commands.soc_run.run_firmware", run)
    words = ("--set", "ways=4", "--set", "write_through=true", "--json", "-")
    result = racetrap("soc", "run", "picorv32", _CRYPTO, *words)
    assert taken == [CacheParams(64, 64, write_through=True, ways=4)]
    assert json.loads(result.stdout)["cache"] == asdict(*taken)


def test_file_that_is_no_image(racetrap, tmp_path):
    bad = tmp_path / "bad.elf"
    bad.write_text("hello\n")
    result = racetrap("soc", "run", "picorv32", str(bad))
    assert result.exit_code == 2
    assert "line 1" in result.stderr


def test_missing_core_names_the_extra(monkeypatch):
    monkeypatch.setattr(systems, "find_spec", lambda name: None)
    with pytest.raises(Failure, match="pythondata-cpu-picorv32 is missing: install the extra soc"):
        systems.SYSTEMS["picorv32"].core()


_RUN = SystemRun(
    status=0, console="done\n", cycles=90, instructions=9, empty_operations=0, lost_operations=1,
    wrong_reads=2, first_wrong=(0x40, 2),
    trace=NoncoherentTrace.from_events(
        NoncoherentTraceHeader(locations={0x40: "a.c:1"}),
        [Operation(K.CACHED_WRITE, 0, 4, pc=0x40), Operation(K.DMA_READ, 0, 64, pc=0x44)],
    ),
    races=(MonitorRace(Rule.DMA_READ_DIRTY, 1, 0, True, False, 0, 63),),
)  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "status", "words"),
    [
        ({}, 1, "2 reads differ from coherent memory, the first at pc 0x40 (a.c:1)"),
        ({"races": ()}, 1, "Wrong data, no race: look at the cache."),
        ({"races": (), "wrong_reads": 0, "first_wrong": None}, 0, "Races: 0 reports"),
    ],
)
def test_what_is_printed(racetrap, monkeypatch, changes, status, words):
    """JSON is checked against its schema by the fixture."""
    run = replace(_RUN, **changes)
    monkeypatch.setattr("racetrap.commands.soc_run.run_firmware", lambda *args, **options: run)
    result = racetrap("soc", "run", "picorv32", _CRYPTO)
    assert result.exit_code == status
    assert words in " ".join(result.stdout.split())
    assert "Operations were lost" in result.stdout
    result = racetrap("soc", "run", "picorv32", _CRYPTO, "--json", "-")
    assert result.exit_code == status
    assert len(json.loads(result.stdout)["races"]) == len(run.races)


@pytest.mark.parametrize(("omission", "status"), [((), 0), (("flush",), 1)])
@pytest.mark.parametrize("form", [pytest.param("trace", marks=_NEEDS_CORE)])
def test_trace_has_the_same_verdict(racetrap, tmp_path, omission, status, form):
    trace = tmp_path / f"made.{form}"
    result = racetrap(
        "soc", "run", "picorv32", _CRYPTO, "2", *omission, "--output", str(trace), "--json", "-"
    )
    assert result.exit_code == status
    document = json.loads(result.stdout)
    assert bool(document["races"]) == bool(status)
    assert document["lost_operations"] == 0
    assert racetrap("check", str(trace)).exit_code == status
    if status:
        assert "5b" in [race["rule"] for race in document["races"]]
        assert document["races"][0]["later"]["location"].startswith("crypto.c:")


@pytest.mark.campaign
@pytest.mark.parametrize("system", EACH_SYSTEM)
def test_waves_are_written(racetrap, tmp_path, system):
    waves = tmp_path / "made.fst"
    result = racetrap("soc", "run", system, _CRYPTO, "2", "--output", str(waves))
    assert result.exit_code == 0
    # A block of type 0, the header of the format.
    assert waves.read_bytes()[0] == 0
    assert len(waves.read_bytes()) > 100_000


def test_needless_maintenance(racetrap, monkeypatch, tmp_path):
    """Each place is left out in a run of its own, by its instruction or by the runtime."""
    events = [Operation(K.CACHE_CLEAN, 0, 64, pc=0xFC), Operation(K.SYNC, pc=0x180),
              Operation(K.SYNC, pc=0x44)]  # fmt: skip
    whole = replace(
        _RUN, races=(), wrong_reads=0, first_wrong=None,
        trace=NoncoherentTrace.from_events(NoncoherentTraceHeader(), events),
    )  # fmt: skip
    left_out = []

    def run(system, params, image, arguments, **options):
        pc = image.words[systems.LEFT_OUT]
        left_out.append(pc)
        kept = [each for each in events if each.pc != pc or pc == 0x44]
        trace = NoncoherentTrace.from_events(NoncoherentTraceHeader(), kept)
        return replace(whole, trace=trace, wrong_reads=int(pc == 0xFC))

    monkeypatch.setattr("racetrap.commands.soc_run.run_firmware", lambda *_, **options: whole)
    monkeypatch.setattr("racetrap.sim.soc.left_out.run_firmware", run)
    table = tmp_path / "needless.csv"
    result = racetrap("soc", "run", "picorv32", _CRYPTO, "--output", str(table), "--json", "-")
    assert left_out == [0xFC, 0x180, 0x44]
    places = json.loads(result.stdout)["without"]
    assert [place["needless"] for place in places] == [False, True, False]
    assert places[0]["harm"] == "wrong data"
    assert "cannot be left out" in places[2]["harm"]
    assert len(table.read_text().splitlines()) == 4
