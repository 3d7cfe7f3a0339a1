"""The page's tables of detectors beside Vortex have the latest kept figures."""

from collections import Counter

from docs.site.history.results import Result
from docs.site.history.vortex import evaluate_figures
from docs.site.vortex import detection_table, overhead_table
from racetrap.evaluation.table import tables_to_json
from racetrap.evaluation.vortex.detection import DETECTORS, detection_tables
from racetrap.evaluation.vortex.overhead import OverheadFound, overhead_tables
from racetrap.evaluation.vortex.programs import Program, ProgramFound

_SCORD, _CAUSALITY = DETECTORS
_ONE, _OTHER = Program("race_interblock_blkfence_raw"), Program("race_interblock_blkatom")
_FREE = Program("norace_interblock_fence_raw")
_SWITCHED = Program("MM", "block-scope-lock")
_RACY = ProgramFound(True, True, False, 10, 20, 300)
_QUIET = ProgramFound(False, False, False, 10, 20, 300)
_WAITS = Counter[str]()


def _kept(found, names=(), costs=None, date="2026-01-01"):
    tables = tables_to_json([*detection_tables(found), *overhead_tables(names, costs or {})])
    figures = evaluate_figures({"tables": tables})
    return [Result(date, "0.1.0", "abc", "racetrap evaluate vortex", *each) for each in figures]


def _costs(*beside):
    return {"overhead of ScoRD, latency 20": [OverheadFound(100, each, _WAITS) for each in beside]}


def test_micro_benchmarks_are_counted_together_and_each_build_of_an_application_alone():
    kept = _kept({
        (_ONE, _SCORD): [_RACY, _RACY], (_OTHER, _SCORD): [_RACY, _QUIET],
        (_FREE, _SCORD): [_QUIET], (_SWITCHED, _CAUSALITY): [_RACY._replace(is_wrong=True), _RACY],
    })  # fmt: skip
    assert detection_table(kept).splitlines()[2:] == [
        "| 18 racy micro-benchmarks | 3 of 4 |  | 3 of 4 |  |",
        "| 14 race-free micro-benchmarks | 0 of 1 |  | 0 of 1 |  |",
        "| MM, block-scope-lock |  | 2 of 2 | 2 of 2 | 1 of 2 |",
        "",
        "`racetrap evaluate vortex`, 2026-01-01 (abc)",
    ]


def test_the_latest_run_of_a_program_is_shown():
    kept = [
        *_kept({(_SWITCHED, _SCORD): [_RACY, _QUIET]}),
        *_kept({(_SWITCHED, _SCORD): [_RACY, _RACY]}, date="2026-01-02"),
    ]
    text = detection_table(kept)
    assert "| MM, block-scope-lock | 2 of 2 |" in text
    assert "2026-01-01" not in text


def test_applications_of_several_runs_have_a_geometric_mean():
    kept = [*_kept({}, ["MM"], _costs(200)), *_kept({}, ["RED"], _costs(50))]
    assert overhead_table(kept).splitlines()[:3:2] == [
        "| detector, memory | MM | RED | mean |", "| ScoRD, latency 20 | 100.0 | -50.0 | 0.0 |",
    ]  # fmt: skip


def test_without_figures_the_page_says_so():
    assert detection_table([]) == overhead_table([]) == "No figure is kept yet.\n"
