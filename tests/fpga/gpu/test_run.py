"""Random runs of detectors on a device: reports are the golden model's, in every order of channels.

ScoRD's are in ``tests/fpga/scord/test_run.py``.
"""

from dataclasses import dataclass
from typing import Any

import pytest

from racetrap.fpga.boards.table import board_params, find_board
from racetrap.fpga.causality.board import CausalityBoard
from racetrap.fpga.causality.self_test import random_trace as causality_trace
from racetrap.fpga.gpu.board import GpuBoard, largest_region
from racetrap.fpga.gpu.device import system_device
from racetrap.fpga.gpu.run import check_reports, run_trace
from racetrap.fpga.hirace.board import HiraceBoard
from racetrap.fpga.hirace.self_test import random_trace as hirace_trace
from racetrap.fpga.host.client import HostLink
from racetrap.fpga.host.session import Session
from racetrap.generators.presets import find_preset
from racetrap.golden_model.causality import packets as causality_packets
from racetrap.golden_model.causality.causality import Causality
from racetrap.golden_model.hirace import packets as hirace_packets
from racetrap.golden_model.hirace.hirace import Hirace
from racetrap.rtl.causality.system import CausalitySystem
from racetrap.rtl.hirace.system import HiraceSystem
from tests.support.fpga.virtual_device import gpu_device, on_terminal


@dataclass(frozen=True)
class _Detector:
    preset: str
    board: type[GpuBoard]
    golden: Any
    transaction: Any
    trace: Any
    system: Any


_DETECTORS = {
    each.preset: each
    for each in (
        _Detector(
            "causality-tiny", CausalityBoard, Causality, causality_packets.Transaction,
            causality_trace, CausalitySystem,
        ),
        _Detector(
            "hirace-tiny", HiraceBoard, Hirace, hirace_packets.Transaction, hirace_trace,
            HiraceSystem,
        ),
    )
}  # fmt: skip


@pytest.fixture(params=_DETECTORS)
def detector(request):
    return _DETECTORS[request.param]


def _play(detector, *seeds):
    """Golden model and board after the self-test's traces of some seeds, one after the other."""
    params = board_params(find_board("ulx3s-85f"), detector.preset)
    events = [event for seed in seeds for event in detector.trace(params, seed)]
    region, device = (
        largest_region(params),
        gpu_device(detector.golden, detector.transaction, params, report_room=64),
    )
    golden = detector.golden(params, region)
    for event in events:
        golden.run(event)
    with on_terminal(device.receive) as port, HostLink(port, timeout_s=2) as link:
        session = Session(link, params, detector.preset)
        return golden, run_trace(detector.board(session, params), region, events)


def test_kernels_of_random_events(detector):
    golden, run = _play(detector, 1, 2)
    assert len(golden.races) > 10
    assert run.counters["accesses"] == golden.counters["accesses"] > 100
    assert check_reports(golden.races, run) == ""
    assert len(run.reports) == len(golden.races)


def test_the_order_between_channels_matters(detector, monkeypatch):
    # Without the wait the device, which favours no channel, mixes their records.
    monkeypatch.setattr(GpuBoard, "_drain", lambda *_: None)
    golden, run = _play(detector, 1)
    assert check_reports(golden.races, run) != ""


def test_metadata_must_be_on_the_chip(detector):
    params = find_preset(detector.preset).params
    with pytest.raises(ValueError, match="local_bytes must be positive on a board, not 0"):
        system_device(detector.system, params, 8)
