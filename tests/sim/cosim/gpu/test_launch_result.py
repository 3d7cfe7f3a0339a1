"""Outcome of a launch: what the hardware may drop."""

from types import SimpleNamespace

import pytest

from racetrap.generators.presets import PRESETS
from racetrap.golden_model.gpu.report_filter import filter_index
from racetrap.golden_model.scord.report import RaceReport
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.gpu.gpu_launches import SimStats
from racetrap.sim.cosim.gpu.launch_result import outcome

_PARAMS = PRESETS["scord-tiny"].params


def _outcome(
    written, dropped=0, errors=0, suppressed=0, records=None, filters=False, ring_records=4
):
    """Outcome of a launch."""
    counters = {
        "reports_written": written, "reports_dropped": dropped, "report_write_errors": errors,
        "metadata_write_errors": 0, "reports_suppressed": suppressed,
    }  # fmt: skip
    sim = SimpleNamespace(
        reports=lambda: records or [0] * written, counters=lambda: counters,
        ring_records=ring_records, report_fifo_depth=2, filters_reports=filters,
        stats=SimStats(100, 0, 0, 0, errors),
    )  # fmt: skip
    return outcome(sim, _PARAMS, SimStats(0, 0, 0, 0, 0))


def _records(*keys):
    """Records of races, by PC and kind."""
    fields = dict.fromkeys(RaceReport.layout.fields, 0)
    return [RaceReport.layout.pack(fields | {"pc": pc, "race": race}) for pc, race in keys]


@pytest.mark.parametrize(
    ("written", "dropped", "errors"), [(1, 0, 0), (4, 9, 2), (0, 1, 1), (3, 1, 0), (1, 3, 1)]
)
def test_reports_that_may_be_dropped(written, dropped, errors):
    assert len(_outcome(written, dropped, errors).reports) == written


@pytest.mark.parametrize(("written", "dropped", "errors"), [(0, 9, 0), (1, 1, 0), (0, 2, 1)])
def test_reports_dropped_while_ring_and_fifo_have_room(written, dropped, errors):
    with pytest.raises(Mismatch, match=r"dropped when the ring has 4 or a bank's FIFO 2, not when"):
        _outcome(written, dropped, errors)


def test_nothing_is_suppressed_without_the_filter():
    with pytest.raises(Mismatch, match=r"must be 0, not 3"):
        _outcome(1, suppressed=3)
    assert len(_outcome(1, suppressed=3, filters=True).reports) == 1


def _other(shares):
    """A race that shares the entry of the first in the filter, or does not."""
    keys = ((pc, 1) for pc in range(0x44, 1 << 20, 4))
    first = filter_index(_PARAMS, *_FIRST)
    return next(key for key in keys if (filter_index(_PARAMS, *key) == first) == shares)


_FIRST = 0x40, 1
_TWIN, _OTHER = _other(True), _other(False)


def test_the_filter_lets_a_race_pass_again_only_if_another_has_taken_its_entry():
    again = _records(_FIRST, _TWIN, _FIRST)
    assert _outcome(3, records=again, filters=True).reports == again
    with pytest.raises(Mismatch, match=r"Report 2 must be suppressed"):
        _outcome(3, records=_records(_FIRST, _OTHER, _FIRST), filters=True)


@pytest.mark.parametrize("options", [{"ring_records": 3}, {"errors": 1, "dropped": 1}])
def test_a_report_that_has_passed_may_be_lost_behind_the_filter(options):
    lost = _records(_FIRST, _OTHER, _FIRST)
    assert _outcome(3, records=lost, filters=True, **options).reports == lost
