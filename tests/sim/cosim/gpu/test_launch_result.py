"""Outcome of a launch: what the hardware may drop."""

from types import SimpleNamespace

import pytest

from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.gpu.gpu_launches import SimStats
from racetrap.sim.cosim.gpu.launch_result import outcome


def _outcome(written, dropped, errors=0):
    """Outcome of a launch with a ring of four records."""
    counters = {
        "reports_written": written, "reports_dropped": dropped, "report_write_errors": errors,
        "metadata_write_errors": 0, "reports_suppressed": 0,
    }  # fmt: skip
    sim = SimpleNamespace(
        reports=lambda: [0] * written, counters=lambda: counters, ring_records=4,
        report_fifo_depth=2,
        stats=SimStats(100, 0, 0, errors),
    )  # fmt: skip
    return outcome(sim, SimStats(0, 0, 0, 0))


@pytest.mark.parametrize(
    ("written", "dropped", "errors"), [(1, 0, 0), (4, 9, 2), (0, 1, 1), (3, 1, 0), (1, 3, 1)]
)
def test_reports_that_may_be_dropped(written, dropped, errors):
    assert len(_outcome(written, dropped, errors).reports) == written


@pytest.mark.parametrize(("written", "dropped", "errors"), [(0, 9, 0), (1, 1, 0), (0, 2, 1)])
def test_reports_dropped_while_ring_and_fifo_have_room(written, dropped, errors):
    with pytest.raises(Mismatch, match=r"dropped when the ring has 4 or a bank's FIFO 2, not when"):
        _outcome(written, dropped, errors)
