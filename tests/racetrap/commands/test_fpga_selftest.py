"""`racetrap fpga selftest`: on golden models behind a pseudo-terminal, whole and with faults."""

import re
from functools import partial

import pytest

from racetrap.fpga.boards.table import BOARDS, board_params
from racetrap.generators.systems import system_of
from racetrap.golden_model.causality import packets as causality_packets
from racetrap.golden_model.causality.causality import Causality
from racetrap.golden_model.hirace import packets as hirace_packets
from racetrap.golden_model.hirace.hirace import Hirace
from tests.support.fpga.monitor_device import monitor_device
from tests.support.fpga.sigrace_device import sigrace_device
from tests.support.fpga.virtual_device import (
    Fault,
    core_device,
    gpu_device,
    on_terminal,
    scord_device,
)

#: Device of each preset on a board, by detector; a whole system or a core.
_DEVICES = {
    "scord": ("ulx3s-85f", "scord-local", scord_device),
    "core": ("ice40-hx8k", "scord-local", core_device),
    "hirace": (
        "ulx3s-85f", "hirace-tiny", partial(gpu_device, Hirace, hirace_packets.Transaction)
    ),
    "causality": (
        "ecpix5-85", "causality-tiny",
        partial(gpu_device, Causality, causality_packets.Transaction),
    ),
    "sigrace": ("ulx3s-85f", "sigrace-tiny", sigrace_device),
    "noncoherent": ("ice40-hx8k", "noncoherent-tiny", monitor_device),
}  # fmt: skip


@pytest.fixture
def device(request):
    board, preset, make = _DEVICES[request.param]
    return make(board_params(BOARDS[board], preset))


def _test(racetrap, device, fault=None):
    with on_terminal(device.receive, fault) as port:
        return racetrap("fpga", "selftest", port)


_EACH = pytest.mark.parametrize("device", _DEVICES, indirect=True)


def test_every_detector_of_a_board_is_tested():
    systems = {
        system_of(board_params(board, preset)).name
        for board in BOARDS.values()
        for preset in board.settings
    }
    assert systems <= set(_DEVICES)


@_EACH
def test_good_board_passes_again_and_again(racetrap, device):
    for _ in range(2):
        result = _test(racetrap, device)
        assert (result.exit_code, result.stderr) == (0, ""), result.stdout
        board, registers, *runs, line, verdict = result.stdout.splitlines()
        assert board.startswith("Board: ")
        assert re.fullmatch(r"Registers: \d+ at their reset values\.", registers)
        for run in runs:
            found = re.match(r"Random run \d: (\d+) races in (\d+) events, equal to the ", run)
            assert found
            assert int(found[1]) > 0 < int(found[2])
        assert len(runs) == 3
        assert re.fullmatch(r"Line: \d+ requests, \d+ sent again\.", line)
        assert verdict == "Passed."


@_EACH
def test_wrong_register_fails(racetrap, device):
    target = device._target
    read = target.read

    def stuck(address):
        word = read(address)
        return word if target._names.get(address) != "CONTROL" else word | 1

    target.read = stuck
    result = _test(racetrap, device)
    assert result.exit_code == 1
    assert result.stderr.startswith(
        "racetrap: Self-test failed: Registers after a reset: CONTROL must be 0x0, not 0x1; "
    )
    assert "Passed" not in result.stdout


def _damage_a_report(target):
    pull, taken = target.pull, []

    def damaged(channel):
        if (record := pull(channel)) is not None:
            taken.append(record)
        return record ^ 1 << 70 if record is not None and len(taken) == 2 else record

    target.pull = damaged


def _forget_blocks(target):
    target.rdm.queues[1].push = lambda _: None


@_EACH
def test_wrong_report_fails(racetrap, device):
    target = device._target
    (_forget_blocks if hasattr(target, "rdm") else _damage_a_report)(target)
    result = _test(racetrap, device)
    assert (result.exit_code, "Passed" in result.stdout) == (1, False)
    assert result.stderr.startswith("racetrap: Self-test failed: ")


def test_board_that_is_lost_fails(racetrap):
    board, preset, make = _DEVICES["scord"]
    result = _test(
        racetrap, make(board_params(BOARDS[board], preset)), fault=Fault(mute_after=2000)
    )
    assert result.exit_code == 1
    assert " was lost after " in result.stderr


def test_no_board(racetrap):
    with on_terminal(lambda _: b"") as port:
        result = racetrap("fpga", "selftest", port)
    assert (result.exit_code, result.stdout) == (3, "")
    assert f"Device on {port} at 3000000 baud does not answer" in result.stderr
