"""Tables of made-up results, and what no run may show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from racetrap.evaluation.sigrace.figures import CHOSEN, ONE_HOT, SETS
from racetrap.evaluation.sigrace.runs import ProgramResult
from racetrap.evaluation.sigrace.tables import make_tables, problems
from racetrap.golden_model.sigrace.params import SigraceParams
from tests.support.sigrace.results import EXISTING, HARDWARE, INJECTED, VERDICT, result


def rows(results: Sequence[ProgramResult], name: str) -> list[dict[str, Any]]:
    """Rows of a table as plain data."""
    (table,) = [each for each in make_tables(results, SigraceParams()) if each.name == name]
    return table.to_json()


def test_regular_and_irregular_programs_are_apart() -> None:
    """A program without false positives among the irregular ones does not touch the regular."""
    figures = result().figures
    clean = {
        name: replace(each, false_intersections=0, false_pairs=0)
        for name, each in figures.configurations.items()
    }
    results = [result("fft"), result("barnes", figures=replace(figures, configurations=clean))]
    by_name = {row["configuration"]: row for row in rows(results, "figure-7a")}
    assert len(by_name) == 20
    worst = by_name["B3_S6"]
    assert worst["regular %"] == 100 * figures.configurations["B3_S6"].rate > 0
    assert worst["irregular %"] == worst["irregular, per pair %"] == 0
    assert by_name[CHOSEN]["paper %"] == 1.57
    assert by_name[ONE_HOT]["bits"] == 256 + 8 * 128
    assert by_name[SETS]["bits"] == by_name[CHOSEN]["bits"] == 2048


def test_means_are_over_programs() -> None:
    figures = result().figures
    false = figures.block_sizes[2000]
    clean = replace(false, false_intersections=0)
    other = replace(figures, block_sizes=figures.block_sizes | {2000: clean})
    results = [result("fft"), result("lu", figures=other)]
    assert false.rate > 0
    by_block = {row["block"]: row for row in rows(results, "figure-7b")}
    assert by_block["2,000"]["regular %"] == pytest.approx(100 * false.rate / 2)
    assert by_block["2,000"]["irregular %"] is None
    assert list(by_block) == ["1,000", "2,000", "4,000", "8,000", "16,000", "sync"]


def test_figure_8_has_all_points() -> None:
    points = rows([result()], "figure-8")
    assert len(points) == 25
    (chosen,) = [row for row in points if row["paper: lost window %"] is not None]
    assert (chosen["block"], chosen["entries"]) == ("2,000", 16)
    for row in points:
        assert 0 <= row["hits %"] + row["lost %"] <= 100


def test_existing_races_and_their_sum() -> None:
    fft, kvstore, total = rows([result("fft"), result("kvstore")], "existing")
    assert (fft["exact"], fft["SigRace"], fft["W-ReEnact"]) == ("2 / 30", "2 / 20", "1 / 7")
    assert (fft["paper: application"], kvstore["paper: application"]) == ("FFT", None)
    assert (total["exact"], total["Ideal SigRace"], total["not real"]) == ("4 / 60", "4 / 56", 0)


def test_injected_races_and_their_sum() -> None:
    missed = replace(INJECTED, sigrace=replace(INJECTED.sigrace, static=0))
    lu, total = rows([result("lu", injected=(INJECTED, missed, INJECTED))], "injected")
    for row in (lu, total):
        assert (row["runs"], row["racy"], row["static, exact"]) == (3, 3, 9)
        assert (row["static, SigRace"], row["runs found, SigRace"]) == (4, 2)
    assert (lu["paper: racy of 25"], lu["paper: static, SigRace"]) == (25, 28)


def test_outcomes_are_summed_over_injected_runs() -> None:
    existing, injected = rows([result(injected=(INJECTED, INJECTED))], "outcomes")
    assert (existing["reported"], existing["missed: queue"]) == (20, 8)
    assert (injected["reported"], injected["missed: log"]) == (10, 8)


def test_overhead_is_that_of_the_first_race() -> None:
    clean = replace(EXISTING, statistics=replace(EXISTING.statistics, first_race=None))
    results = [
        result("fft"),
        result("lu", existing=clean),
        result("water", existing=clean, injected=()),
    ]
    fft, lu, water, mean, paper = rows(results, "instructions")
    assert (fft["first race"], fft["overhead %"], fft["for nothing %"]) == ("existing", 50, 25)
    assert (lu["first race"], lu["overhead %"], lu["for nothing %"]) == ("injected", 10, 0)
    assert (water["first race"], water["overhead %"]) == (None, None)
    assert (mean["overhead %"], paper["overhead %"]) == (30, 22)
    assert (fft["whole run %"], fft["rollbacks"], fft["a rollback %"]) == (50, 4, 12.5)


def test_storage_is_the_papers() -> None:
    by_name = {row["what"]: row for row in rows([result()], "storage")}
    assert by_name["core"]["form hashed"] == by_name["core"]["paper"] == 808
    assert by_name["RDM, a thread"]["form hashed"] == by_name["RDM, a thread"]["paper"] == 8512
    assert by_name["core"]["form sets"] < 808


def test_messages_of_both_forms() -> None:
    fft, _, regular, mean, paper = rows([result("fft"), result("barnes")], "messages")
    assert fft["messages"] == regular["messages"] == mean["messages"] / 2 > 0
    assert 0 < fft["sets: mean"] <= fft["sets: 99 %"]
    assert fft["hashed: mean"] == mean["hashed: mean"]
    assert paper["sets: per 1,000"] == 63


def test_all_is_well() -> None:
    assert problems([result("fft"), result("lu", hardware=None)]) == []


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"existing": replace(EXISTING, unreal=2)}, "fft: SigRace reports 2 races"),
        ({"injected": (INJECTED, replace(INJECTED, unreal=1))}, "fft: SigRace reports 1 races"),
        ({"verdict": VERDICT._replace(sanitizer=frozenset())}, "fft: verdicts of the oracle"),
        ({"hardware": replace(HARDWARE, difference="Step 3")}, "fft: hardware and golden model"),
    ],
)
def test_what_no_run_may_show(parts: dict[str, Any], sentence: str) -> None:
    (found,) = problems([result("fft", **parts)])
    assert found.startswith(sentence)
