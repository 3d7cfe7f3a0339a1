"""Traces on a device: its reports are the golden model's, in every order of channels."""

from dataclasses import replace

import pytest

from racetrap.fpga.boards.table import board_params, find_board
from racetrap.fpga.gpu.board import largest_region
from racetrap.fpga.gpu.run import check_reports, run_trace
from racetrap.fpga.host.client import HostLink, LinkError
from racetrap.fpga.host.session import Session
from racetrap.fpga.scord.board import ScordBoard, monitored_region
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.scord.report import RaceReport
from racetrap.golden_model.scord.scord import Scord
from racetrap.sim.cosim.scord.knobs import KNOBS
from racetrap.sim.cosim.scord.random_events import random_events, transactions_of
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS
from racetrap.sim.gpu.suites.micro.program import program_region
from racetrap.sim.gpu.suites.micro.scheduler import FIXED_SCHEDULES, BlockPlacement, run_program
from tests.support.fpga.virtual_device import Fault, core_device, on_terminal, scord_device

_REGION = program_region()


def _run_golden(params, *traces, region=_REGION):
    scord = Scord(params, region)
    for events in traces:
        for event in events:
            scord.run(event)
    return scord


def _golden(params, *traces, region=_REGION):
    return _run_golden(params, *traces, region=region).races


@pytest.fixture
def session(params):
    with on_terminal(scord_device(params).receive) as port, HostLink(port, timeout_s=2) as link:
        yield Session(link, params, "tiny")


@pytest.mark.parametrize("placement", BlockPlacement)
def test_micro_benchmarks(session, params, placement):
    schedule = FIXED_SCHEDULES["round-robin"]
    right = races = 0
    for benchmark in MICRO_BENCHMARKS.values():
        events = run_program(benchmark, schedule, placement)
        result = run_trace(ScordBoard(session, params), _REGION, events)
        assert check_reports(_golden(params, events), result) == ""
        right += benchmark.is_right(result.reports)
        races += len(result.reports)
    assert right == len(MICRO_BENCHMARKS) == 32
    assert races > 0


def test_several_kernels_of_random_events(session, params):
    traces = [random_events(params, _REGION, KNOBS["locks"], seed, 60) for seed in (1, 2)]
    traces = [list(events) for events in traces]
    result = run_trace(
        ScordBoard(session, params), _REGION, [event for each in traces for event in each]
    )
    golden = _golden(params, *traces)
    assert len(golden) > 10
    assert check_reports(golden, result) == ""
    assert result.counters["accesses"] > 60
    assert result.transactions > 100


def test_the_order_between_channels_matters(session, params, monkeypatch):
    # Without the wait the device, which favours no channel, mixes their records.
    monkeypatch.setattr(ScordBoard, "_drain", lambda *_: None)
    events = list(random_events(params, _REGION, KNOBS["locks"], 1, 60))
    result = run_trace(ScordBoard(session, params), _REGION, events)
    assert check_reports(_golden(params, events), result) != ""


def test_what_a_run_before_left_is_forgotten(session, params):
    events = list(random_events(params, _REGION, KNOBS["locks"], 1, 60))
    for _ in range(2):
        # The host ends in the middle of a kernel.
        with pytest.raises(AttributeError):
            run_trace(ScordBoard(session, params), _REGION, [*events[:40], None])
        result = run_trace(ScordBoard(session, params), _REGION, events)
        assert check_reports(_golden(params, events), result) == ""


def test_what_still_waits_in_channels_is_no_part_of_the_next_run(params):
    events = list(random_events(params, _REGION, KNOBS["locks"], 1, 60))
    with on_terminal(scord_device(params).receive) as port, HostLink(port, timeout_s=2) as link:
        first = Session(link, params, "tiny")
        for sm, transaction in transactions_of(events, params):
            if first.room > 1:
                first.push(sm, [params.transaction_layout.pack(transaction._asdict())] * 2)
        result = run_trace(ScordBoard(Session(link, params, "tiny"), params), _REGION, events)
    scord = _run_golden(params, events)
    assert result.counters["accesses"] == scord.counters["accesses"]
    assert check_reports(scord.races, result) == ""


def test_a_trace_without_a_kernel(session, params):
    result = run_trace(ScordBoard(session, params), _REGION, [])
    assert (result.reports, result.counters) == ((), {"reports_dropped": 0})
    assert check_reports([], result) == ""


def test_dropped_reports_are_counted(params):
    events = list(random_events(params, _REGION, KNOBS["locks"], 1, 60))
    device = scord_device(params, report_room=1)
    with on_terminal(device.receive) as port, HostLink(port, timeout_s=2) as link:
        result = run_trace(ScordBoard(Session(link, params, "tiny"), params), _REGION, events)
    golden = _golden(params, events)
    assert 0 < len(result.reports) < len(golden)
    assert result.counters["reports_dropped"] == len(golden) - len(result.reports)
    assert check_reports(golden, result) == ""


@pytest.fixture(scope="session")
def core_params():
    return board_params(find_board("ice40-hx8k"), "scord-local")


def _core_events(core_params):
    return list(random_events(core_params, largest_region(core_params), KNOBS["atomics"], 1, 60))


@pytest.mark.parametrize("room", [1, 2, 64])
def test_reports_that_a_core_drops_are_counted(core_params, room):
    events, region = _core_events(core_params), largest_region(core_params)
    device = core_device(core_params, report_room=room)
    with on_terminal(device.receive) as port, HostLink(port, timeout_s=2) as link:
        session = Session(link, core_params, "core")
        assert monitored_region(session, core_params, region) == region
        result = run_trace(ScordBoard(session, core_params), region, events)
    golden = _golden(core_params, events, region=region)
    dropped = result.counters["reports_dropped"]
    assert dropped == len(golden) - len(result.reports)
    assert (dropped > 0) == (room < 64)
    assert check_reports(golden, result) == ""
    silent = replace(result, counters={"reports_dropped": dropped - 1})
    assert f"must lack the {dropped - 1} that it dropped" in check_reports(golden, silent)


def test_the_region_of_a_core_is_fixed(core_params):
    fixed = largest_region(core_params)
    inside = Region(fixed.data_base, fixed.size_log2 - 1)
    with on_terminal(core_device(core_params).receive) as port, HostLink(port) as link:
        session = Session(link, core_params, "core")
        assert monitored_region(session, core_params, inside) == fixed
        for wanted in (Region(0, 7), replace(fixed, size_log2=fixed.size_log2 + 1)):
            with pytest.raises(ValueError, match="must lie in the core's Region"):
                monitored_region(session, core_params, wanted)
        with pytest.raises(LinkError, match="Region must be the core's Region"):
            run_trace(ScordBoard(session, core_params), inside, _core_events(core_params))


def test_check_finds_each_difference(session, params):
    events = run_program(
        MICRO_BENCHMARKS[_racy()], FIXED_SCHEDULES["in-order"], BlockPlacement.SAME_SM
    )
    golden = _golden(params, events)
    result = run_trace(ScordBoard(session, params), _REGION, events)
    report = result.reports[0]
    assert check_reports(golden, result) == ""
    assert "Races of the board must number 0" in check_reports([], result)
    lost = replace(result, reports=result.reports[1:])
    assert "must lack the 0 that it dropped, not 1" in check_reports(golden, lost)
    wrong = replace(result, reports=(replace(report, pc=report.pc + 8), *result.reports[1:]))
    assert "must be the golden model's, not" in check_reports(golden, wrong)
    for record in (0, (1 << 256) - 1):  # no report at all
        none = replace(result, reports=(RaceReport.from_record(record),))
        assert "must be the golden model's, not 0x" in check_reports(golden, none)
    other = replace(result, reports=(replace(report, sequence=99), *result.reports[1:]))
    assert check_reports(golden, other) == ""


def _racy():
    return next(name for name, benchmark in MICRO_BENCHMARKS.items() if benchmark.racy)


def test_bad_line(params):
    events = list(random_events(params, _REGION, KNOBS["locks"], 1, 30))
    fault = Fault(seed=5, flip=0.001, drop=0.001, double=0.001)
    with on_terminal(scord_device(params).receive, fault) as port:
        with HostLink(port, timeout_s=0.02, retries=60) as link:
            result = run_trace(ScordBoard(Session(link, params, "tiny"), params), _REGION, events)
    assert check_reports(_golden(params, events), result) == ""
    assert link.resends > 5


@pytest.mark.parametrize("fault", [Fault(mute_after=2000), Fault(unplug_after=2000)])
def test_lost_in_the_middle(params, fault):
    events = list(random_events(params, _REGION, KNOBS["locks"], 1, 60))
    with on_terminal(scord_device(params).receive, fault) as port:
        with HostLink(port, timeout_s=0.05, retries=2) as link:
            session = Session(link, params, "tiny")
            with pytest.raises(LinkError, match=r"it came to event \d+, with \d+ transactions"):
                run_trace(ScordBoard(session, params), _REGION, events)


def test_refused_region(session, params, monkeypatch):
    monkeypatch.setattr(Session, "field", lambda _, register, field: field == "config_error")
    with pytest.raises(LinkError, match="Device refused region Region"):
        ScordBoard(session, params).launch(_REGION)
