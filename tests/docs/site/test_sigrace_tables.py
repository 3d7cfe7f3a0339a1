"""Kept figures of SigRace's race detection module, as tables."""

from docs.site.history.results import Result
from docs.site.kept_tables import NOTHING
from docs.site.sigrace_tables import cost_table, pace_table


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


def test_nothing_is_kept():
    assert cost_table("rdm", "filters=4", []) == pace_table("cycles", []) == NOTHING
