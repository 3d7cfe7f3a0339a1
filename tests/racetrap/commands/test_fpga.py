"""`racetrap fpga run`: on golden models behind a pseudo-terminal."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from racetrap.fpga.boards.table import BOARDS, board_params
from racetrap.fpga.causality.self_test import random_trace
from racetrap.fpga.gpu.board import largest_region
from racetrap.generators.presets import PRESETS
from racetrap.golden_model.causality.causality import Causality
from racetrap.golden_model.causality.packets import Transaction
from racetrap.golden_model.events import DataRegion, Geometry, TraceHeader
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.trace import NoncoherentTrace, Trace
from racetrap.golden_model.trace.noncoherent.operations import (
    NoncoherentTraceHeader,
    Operation,
    OperationKind,
)
from racetrap.sim.cosim.scord.knobs import KNOBS
from racetrap.sim.cosim.scord.random_events import random_events
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS
from racetrap.sim.gpu.suites.micro.program import program_region
from racetrap.sim.gpu.suites.micro.scheduler import FIXED_SCHEDULES, BlockPlacement, run_program
from tests.support import REPOSITORY
from tests.support.fpga.monitor_device import monitor_device
from tests.support.fpga.sigrace_device import sigrace_device
from tests.support.fpga.virtual_device import (
    Fault,
    core_device,
    gpu_device,
    on_terminal,
    scord_device,
)

_BOARD = "ulx3s-85f"
#: Boards that have the same configurations.
_TWINS = "ulx3s-85f or ecpix5-85"
_EXAMPLES = REPOSITORY / "docs" / "examples"
_TAKE_TURNS = ("--set", "environment=multiplex")


@pytest.fixture
def params() -> ScordParams:
    return replace(PRESETS["scord-tiny"].params, trace_port=False)


@pytest.mark.parametrize("name", list(MICRO_BENCHMARKS)[::6])
def test_run_finds_what_check_finds(racetrap, params, tmp_path, name):
    path = tmp_path / "trace.bin"
    events = run_program(
        MICRO_BENCHMARKS[name], FIXED_SCHEDULES["round-robin"], BlockPlacement.OTHER_SMS
    )
    geometry = Geometry(params.sm_count, params.blocks_per_sm, params.warps_per_sm)
    region = program_region()
    header = TraceHeader(geometry=geometry, region=DataRegion(region.data_base, region.size_log2))
    Trace.from_events(header, events).write_binary(path)
    checked = racetrap("check", path, "--oracle", "none", "--detector", "scord-tiny", "--json", "-")
    with on_terminal(scord_device(params).receive) as port:
        ran = racetrap("fpga", "run", path, "--port", port, "--timeout", 2, "--json", "-")
    assert ran.exit_code == checked.exit_code == int(MICRO_BENCHMARKS[name].racy)
    mine, golden = json.loads(ran.stdout), json.loads(checked.stdout)
    assert mine["races"] == golden["races"]
    assert mine["configuration"] == "scord-tiny"
    assert mine["line"]["resends"] == 0
    assert mine["line"]["requests"] > 0


def test_what_is_printed(racetrap, params, racy):
    printed = racetrap("check", racy, "--oracle", "none", "--detector", "scord-tiny").stdout
    with on_terminal(scord_device(params).receive) as port:
        result = racetrap(
            "fpga", "run", racy, "--port", port, "--detector", "scord-tiny", "--timeout", 2
        )
    assert result.exit_code == 1
    races = printed[: printed.index("Reports: ")]
    assert result.stdout.startswith(races)
    assert f"Races: 1 in 8 events; scord-tiny on {port} and golden model agree in all 1 rep" in (
        result.stdout
    )


@pytest.mark.parametrize(("name", "status"), [("unlocked-sum", 1), ("locked-sum", 0)])
def test_threads_as_check_finds_them(racetrap, name, status):
    path = _EXAMPLES / f"{name}.trace"
    params = board_params(BOARDS[_BOARD], "sigrace-tiny")
    checked = racetrap("check", path, "--detector", "sigrace-tiny", *_TAKE_TURNS, "--json", "-")
    with on_terminal(sigrace_device(params).receive) as port:
        options = ("--port", port, *_TAKE_TURNS, "--timeout", 2)
        ran = racetrap("fpga", "run", path, *options, "--json", "-")
        printed = racetrap("fpga", "run", path, *options)
    assert ran.exit_code == printed.exit_code == checked.exit_code == status
    mine, golden = json.loads(ran.stdout), json.loads(checked.stdout)
    keys = ("races", "static", "conflicts", "false_positives", "statistics", "events")
    assert [mine[key] for key in keys] == [golden[key] for key in keys]
    assert (mine["configuration"], mine["environment"]) == (
        f"sigrace-tiny on {_TWINS}",
        "multiplex",
    )
    assert mine["conflict_records"] == mine["conflicts"] == status
    assert mine["line"]["resends"] == 0
    assert f"agree in all {status} records of conflicts and " in printed.stdout


def test_operations_of_an_accelerator(racetrap, tmp_path):
    params = board_params(BOARDS["ice40-hx8k"], "noncoherent-tiny")
    path = tmp_path / "driver.trace"
    operations = [
        Operation(OperationKind.CACHED_WRITE, 0x40, 8), Operation(OperationKind.DMA_READ, 0x40, 8),
        Operation(OperationKind.SYNC),
    ]  # fmt: skip
    header = NoncoherentTraceHeader(memory=params.memory)
    NoncoherentTrace.from_events(header, operations).write_binary(path)
    with on_terminal(monitor_device(params).receive) as port:
        options = ("--port", port, "--timeout", 2)
        ran = racetrap("fpga", "run", path, *options, "--json", "-")
        printed = racetrap("fpga", "run", path, *options)
    assert ran.exit_code == printed.exit_code == 1
    document = json.loads(ran.stdout)
    assert [race["rule"] for race in document["races"]] == ["5b"]
    assert (document["rows"], document["reports"]) == (3, 1)
    assert document["configuration"] == "noncoherent-tiny on ice40-hx8k"
    assert "golden model agree in all 1 reports (3 rows" in printed.stdout


def test_threads_that_do_not_fit(racetrap):
    params = board_params(BOARDS[_BOARD], "sigrace-tiny")
    with on_terminal(sigrace_device(params).receive) as port:
        result = racetrap("fpga", "run", _EXAMPLES / "locked-sum.trace", "--port", port)
    assert result.exit_code == 2
    assert "3 threads, but environment fixed has only 2 contexts" in result.stderr


def test_threads_that_differ(racetrap):
    device = sigrace_device(board_params(BOARDS[_BOARD], "sigrace-tiny"))
    device._target.rdm.queues[1].push = lambda _: None  # so no conflict is found
    path = _EXAMPLES / "unlocked-sum.trace"
    message = _error(racetrap, device.receive, path, *_TAKE_TURNS, timeout=2)
    assert "Conflict log must have 1 records, not 0" in message


def test_a_bad_line_is_told(racetrap, params, racy):
    device, fault = scord_device(params), Fault(seed=3, flip=0.002)
    with on_terminal(device.receive, fault) as port:
        ran = racetrap("fpga", "run", racy, "--port", port, "--timeout", 0.02, "--json", "-")
    line = json.loads(ran.stdout)["line"]
    assert 0 < line["resends"] < line["requests"]


def test_preset_of_a_board(racetrap, racy):
    params = board_params(BOARDS[_BOARD], "scord-local")
    with on_terminal(scord_device(params).receive) as port:
        named = racetrap(
            "fpga", "run", racy, "--port", port, "--detector", f"scord-local:{_BOARD}",
            "--timeout", 2, "--json", "-",
        )  # fmt: skip
        found = racetrap("fpga", "run", racy, "--port", port, "--timeout", 2, "--json", "-")
    names = [json.loads(result.stdout)["configuration"] for result in (named, found)]
    assert names == [f"scord-local on {_BOARD}", f"scord-local on {_TWINS}"]


def test_a_core_that_drops_reports(racetrap, tmp_path):
    params = board_params(BOARDS["ice40-hx8k"], "scord-local")
    region = largest_region(params)
    events = random_events(params, region, KNOBS["atomics"], 1, 60)
    header = TraceHeader(
        geometry=Geometry(params.sm_count, params.blocks_per_sm, params.warps_per_sm),
        region=DataRegion(region.data_base, region.size_log2),
    )
    path = tmp_path / "trace.bin"
    Trace.from_events(header, events).write_binary(path)
    with on_terminal(core_device(params).receive) as port:
        result = racetrap(
            "fpga", "run", path, "--port", port, "--timeout", 2, "--json", tmp_path / "run.json"
        )
    found = json.loads((tmp_path / "run.json").read_text())
    dropped = found["counters"]["reports_dropped"]
    assert found["configuration"] == "scord-local on ice40-hx8k"
    assert 0 < dropped == len(found["races"]) - found["reports"]
    assert f"{dropped} of them without a report for lack of room on the board" in result.stdout


def _error(
    racetrap, device, trace: str | Path, *options: object, fault: Fault | None = None,
    timeout: float = 0.05,
):  # fmt: skip
    with on_terminal(device, fault) as port:
        result = racetrap("fpga", "run", trace, "--port", port, "--timeout", timeout, *options)
    assert (result.exit_code, result.stdout) == (3, "")
    return result.stderr


def test_another_configuration(racetrap, params, racy):
    message = _error(racetrap, scord_device(params).receive, racy, "--detector", "scord-banks4")
    assert "Device must have configuration 0x" in message
    assert " of scord-banks4, not 0x" in message
    other = replace(params, outstanding=64)
    message = _error(racetrap, scord_device(other).receive, racy)
    assert "configuration of a board or preset if none is named, not 0x" in message


def test_run_without_the_extra(racetrap, without, racy):
    without("serial")
    result = racetrap("fpga", "run", racy, "--port", "/dev/null")
    assert result.exit_code == 3
    sentence = "racetrap: `serial` was not found: install the extra `fpga` by `"
    assert result.stderr.startswith(sentence)


def test_mute_and_lost(racetrap, params, racy):
    assert " baud does not answer: no answer in 9 tries" in _error(racetrap, lambda _: b"", racy)
    for fault in (Fault(mute_after=150), Fault(unplug_after=150)):
        message = _error(racetrap, scord_device(params).receive, racy, fault=fault)
        assert "was lost after" in message
        assert "it came to event" in message


def test_wrong_reports(racetrap, params, racy):
    device = scord_device(params)
    pull = device._target.pull
    device._target.pull = lambda channel: (
        None if (record := pull(channel)) is None else record ^ 1 << 70
    )
    message = _error(racetrap, device.receive, racy)
    assert "Reports of the board must be the golden model's, not " in message


def test_bad_input(racetrap, params, racy):
    for options, words in (
        (["--set", "ratio=1"], "Setting ratio=1 is of a configuration: name it with --detector"),
        (["--detector", "sigrace-tiny"], "preset of sigrace does not read a trace of a GPU"),
        (["--detector", "nothing"], "nothing"),
        (["--set", "environment=fixed"], "Setting environment=fixed is of a configuration"),
    ):
        with on_terminal(scord_device(params).receive) as port:
            result = racetrap("fpga", "run", racy, "--port", port, *options)
        assert result.exit_code == 2
        assert words in result.stderr


def test_trace_for_the_other_detector(racetrap, params):
    with on_terminal(scord_device(params).receive) as port:
        result = racetrap("fpga", "run", _EXAMPLES / "locked-sum.trace", "--port", port)
    assert (result.exit_code, result.stderr) == (
        2, "racetrap: A preset of scord does not read a trace of threads: take one of sigrace.\n"
    )  # fmt: skip


def test_trace_of_a_larger_gpu(racetrap, params, racy):
    path = Path(racy)
    path.write_text(path.read_text().replace("sm_count=2", "sm_count=4"))
    with on_terminal(scord_device(params).receive) as port:
        result = racetrap("fpga", "run", racy, "--port", port)
    assert result.exit_code == 2
    assert "Parameter sm_count must be at least the 4 of the trace, not 2" in result.stderr


def test_lanes_must_be_scheduled_as_on_the_board(racetrap, tmp_path):
    params = board_params(BOARDS[_BOARD], "causality-tiny")
    trace, path = random_trace(params, 1), tmp_path / "trace.bin"
    header = replace(trace.header, independent_threads=0)
    Trace.from_events(header, trace).write_binary(path)
    with on_terminal(gpu_device(Causality, Transaction, params).receive) as port:
        result = racetrap("fpga", "run", path, "--port", port, "--timeout", 2)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Lanes of the trace must be independent threads as on the board, not in lockstep" in (
        result.stderr
    )
