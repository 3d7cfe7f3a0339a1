"""Programs on the live system under many delays: the table, problems, and a run."""

from dataclasses import replace
from importlib.util import find_spec

import pytest

from racetrap.evaluation.noncoherent.live import LiveCase, LivePart, live_problems, run_live
from racetrap.evaluation.noncoherent.programs import COMPLETE
from racetrap.evaluation.noncoherent.tables import Evaluation, make_tables

_WHOLE = LiveCase("crypto", COMPLETE, False, False, 1, False, False, 0)
_WRONG = LiveCase("crypto", "flush", True, True, 3, True, False, 0)
_HIDDEN = LiveCase("crypto", "wait", True, True, 100, False, False, 0)


def test_table_tells_what_timing_hides():
    assert live_problems([_WHOLE, _WRONG, _HIDDEN]) == []
    (table,) = (
        table for table in make_tables(Evaluation(live=[_WHOLE, _WRONG, _HIDDEN]))
        if table.name == "live"
    )  # fmt: skip
    assert [row[-1] for row in table.rows] == ["never under 1", "under delay 3", "never under 100"]


@pytest.mark.parametrize(
    ("case", "changes"),
    [
        (_WRONG, {"is_reported": False}),
        (_HIDDEN, {"is_harmful": False}),
        (_WHOLE, {"is_reported": True, "is_harmful": True}),
        (_WHOLE, {"is_wrong": True}),
        (_WRONG, {"is_late": True}),
        (_HIDDEN, {"lost": 2}),
    ],
)
def test_problem(case, changes):
    assert len(live_problems([replace(case, **changes)])) == 1


@pytest.mark.campaign
@pytest.mark.skipif(find_spec("pythondata_cpu_picorv32") is None, reason="Core PicoRV32: extra soc")
@pytest.mark.xdist_group("soc-picorv32")
def test_some_delays():
    cases = run_live(LivePart("adc_ring", 3, 1))
    assert live_problems(cases) == []
    assert [(case.omission, case.is_reported) for case in cases] == [
        (COMPLETE, False), ("wait", True), ("invalidate", True), ("alignment", True)
    ]  # fmt: skip
