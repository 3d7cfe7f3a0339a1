"""Progress of a kernel's run on a terminal."""

from contextlib import contextmanager

import pytest

from racetrap.commands.shared import terminal
from racetrap.sim.gpu.executor.machine import launch
from racetrap.sim.gpu.executor.machine.errors import KernelFault
from tests.support.gpu.ptx_kernels import Run


@pytest.fixture
def bars(monkeypatch):
    """What the bars of this test show, in turn."""
    shown = []

    @contextmanager
    def bar(description, total=None):
        shown.append(total)
        yield lambda **changes: shown.append(changes)
        shown.append("gone")

    monkeypatch.setattr(terminal, "progress_bar", bar)
    monkeypatch.setattr(launch, "_REPORT_INTERVAL", 1000)
    return shown


def test_a_short_run_shows_nothing(bars):
    Run("", watch=terminal.launch_bar)
    assert bars == []


def test_a_long_run_shows_blocks_and_instructions(bars):
    Run("", grid=300, watch=terminal.launch_bar)
    total, *updates, end = bars
    assert (total, end) == (300, "gone")
    done = [update["completed"] for update in updates]
    assert done == sorted(done)
    assert 0 < done[0] < 300
    for update in updates:
        assert "Running test: " in update["description"]


def test_a_run_without_end_shows_how_far_it_is(bars):
    with pytest.raises(KernelFault):
        Run("LOOP: bra LOOP;", watch=terminal.launch_bar, stall_limit=5000)
    total, *updates = bars[:-1]
    assert (total, {update["completed"] for update in updates}) == (1, {0})
    assert len({update["description"] for update in updates}) == len(updates) >= 5
