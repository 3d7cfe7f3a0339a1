"""Kept figures of SigRace's race detection module, as tables."""

from docs.site.history.results import Result
from docs.site.history.sigrace import evaluate_figures
from docs.site.kept_tables import NOTHING
from docs.site.sigrace_tables import cost_table, pace_table, rollback_table


def _results(head, figures, day="2026-01-02"):
    return [
        Result(day, "1", "abc", "racetrap run", f"{head}{name}", "cycles", value)
        for name, value in figures.items()
    ]


def test_machines_are_columns_and_the_latest_figures_count():
    head = "programs with threads at their own pace, "
    before = _results(head, {"cycles, fft: scanners 1": 70}, "2026-01-01")
    now = _results(head, {
        "cycles, fft: scanners 1": 60, "cycles, fft: scanners 7": 9000, "cycles, lu: scanners 7": 4,
        "for the RDM, fft: scanners 1": 5,
    })  # fmt: skip
    shown = pace_table("cycles", [*before, *now])
    head, _, *rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in shown.splitlines()
        if "|" in line
    ]
    assert head == ["program", "scanners 1", "scanners 7"]
    assert rows == [["fft", "60", "9,000"], ["lu", "", "4"]]
    assert "`racetrap run`, 2026-01-02 (abc)" in shown


def test_cost_is_of_the_module_with_a_changed_parameter():
    results = _results("rdm of sigrace with ", {
        "filters=4, scanners=7, on ecp5: flip-flops": 8, "scanners=7, on ecp5: flip-flops": 9,
    })  # fmt: skip
    shown = cost_table("rdm", "filters=4", results)
    assert "| scanners=7, on ecp5 | 8 |" in shown
    assert "9" not in shown.replace("2026", "")


def test_policies_are_rows():
    kept = evaluate_figures({
        "programs": 2, "runs with injected races": 0, "size": "small",
        "tables": {
            "policies": [
                {"policy": "blocks", "overhead %": 5.5, "dynamic": 7},
                {"policy": "ring of 1,024", "overhead %": 0.5, "dynamic": None},
                {"policy": "Paper", "overhead %": 22, "dynamic": None},
            ],
            "outcomes": [], "figure-7a": [], "existing": [], "pace": [],
            "injected": [{"program": "Total", "racy": 0}],
        },
    })  # fmt: skip
    results = [Result("2026-01-02", "1", "abc", "racetrap run", *figure) for figure in kept]
    shown = rollback_table("size small of 2 programs", results)
    rows = [line for line in shown.splitlines() if "|" in line]
    assert rows[0] == "| policy | overhead % | dynamic |"
    assert rows[2:] == ["| blocks | 5.5 | 7 |", "| ring of 1,024 | 0.5 |  |"]


def test_nothing_is_kept():
    assert rollback_table("size small of 13 programs", []) == NOTHING
    assert cost_table("rdm", "filters=4", []) == pace_table("cycles", []) == NOTHING
