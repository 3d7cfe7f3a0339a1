"""Tables of made-up results, and what no run may show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from racetrap.evaluation.sigrace import policies
from racetrap.evaluation.sigrace.caches import CACHE_BYTES, CacheCounts, LineCounts
from racetrap.evaluation.sigrace.figures import CHOSEN, ONE_HOT, SETS, Figures
from racetrap.evaluation.sigrace.opportunities import prediction
from racetrap.evaluation.sigrace.policies import CHOSEN as RING
from racetrap.evaluation.sigrace.policies import PAPERS
from racetrap.evaluation.sigrace.races import RaceCount
from racetrap.evaluation.sigrace.runs import ProgramResult
from racetrap.evaluation.sigrace.tables import make_tables, problems
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.result import FirstRace, SigraceStatistics
from tests.support.sigrace.results import (
    EXISTING,
    HARDWARE,
    INJECTED,
    POLICIES,
    VERDICT,
    result,
)


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


def lines(**counts: int) -> Figures:
    """Figures with made-up counts of lines: 2 million instructions of 4 threads in 100 blocks."""
    parts = {"instructions": 2_000_000, "threads": 4, "blocks": 100}
    parts |= {"lines": 900, "shared_lines": 300, "displaced_lines": 400}
    parts |= {name: counts.pop(name) for name in parts | {"checkpoints": 0} if name in counts}
    cached = {size: CacheCounts(**counts) for size in CACHE_BYTES}
    return replace(result().figures, lines=LineCounts(caches=cached, **parts))


def test_lost_lines_of_programs_and_their_means() -> None:
    some = lines(lost=200, queued=50, opened=30, cached=100)
    results = [result("fft", figures=some), result("barnes", figures=lines(displaced_lines=0))]
    (fft, barnes, regular, irregular, mean, paper) = rows(results, "figure-9a")
    assert (fft["64 KB"], fft["32 KB, or open"], barnes["32 KB"]) == (25, 40, None)
    assert (regular["32 KB"], irregular["32 KB"], mean["32 KB"]) == (25, None, 25)
    assert (paper["16 KB"], paper["32 KB"], paper["32 KB, or open"]) == (None, 59, None)
    fft, barnes, _, _, mean, paper = rows(results, "figure-9b")
    assert (fft["8 KB"], barnes["8 KB"], mean["8 KB"], paper["32 KB"]) == (100, 0, 50, 2800)
    fft, barnes, _, _, mean, paper = rows(results, "figure-9c")
    assert (fft["32 KB"], barnes["32 KB"], mean["32 KB"], paper["32 KB"]) == (25, None, 25, 13)
    (fft, *_, paper) = rows(results, "figure-9d")
    assert (fft["with shared data"], fft["all"], fft["blocks"]) == (3, 9, 50)
    assert (paper["with shared data"], paper["blocks"]) == (14, 500)


def test_logs_are_of_programs_with_checkpoints() -> None:
    """Two intervals of four threads."""
    some = lines(checkpoints=2, logged=256, written_back=128)
    results = [result("fft", figures=some), result("lu", figures=lines(logged=9))]
    fft, lu, _, mean, paper = rows(results, "figure-10c")
    assert (fft["32 KB"], lu["32 KB"], mean["32 KB"], paper["32 KB"]) == (2, None, 2, 29)
    fft, lu, _, mean, paper = rows(results, "figure-10d")
    assert (fft["32 KB"], lu["32 KB"], mean["32 KB"], paper["32 KB"]) == (1, None, 1, 4.8)


def test_what_figure_9_predicts() -> None:
    """The made-up races: SigRace finds 2 existing and 2 injected ones, W-ReEnact 1 and 1."""
    right = lines(queued=200, cached_shared=100, cached=80)
    wrong = lines(queued=20, cached_shared=40)
    even = replace(EXISTING, reenact=EXISTING.sigrace)
    results = [
        result("fft", figures=right),
        result("lu", figures=wrong),
        result("ocean", figures=right, existing=even, injected=()),
    ]
    fft, lu, ocean, mean, paper = rows(results, "figure-9")
    assert (fft["W-ReEnact loses"], fft["SigRace loses"], fft["c x d x blocks"]) == (100, 50, 30)
    names = ("predicted", "static, SigRace", "static, W-ReEnact", "more races")
    assert [fft[name] for name in names] == ["SigRace", 4, 2, "SigRace"]
    assert (lu["predicted"], lu["more races"]) == ("W-ReEnact", "SigRace")
    assert (ocean["predicted"], ocean["more races"]) == ("SigRace", None)
    assert (mean["W-ReEnact loses"], mean["SigRace loses"]) == (70, 40)
    assert [mean[name] for name in names] == ["SigRace", 10, 6, "SigRace"]
    assert [paper[name] for name in names] == ["SigRace", 1281, 546, "SigRace"]
    assert prediction(results) == (
        "On average W-ReEnact loses 70 and SigRace 40 lines: Figure 9 predicts that SigRace finds "
        "more races, which holds (SigRace 10, W-ReEnact 6 static races). Of the 2 programs in "
        "which they find different numbers the prediction holds for 1."
    )


@pytest.mark.parametrize(
    ("counts", "claim"), [({"cached_shared": 2}, "W-ReEnact finds more"), ({}, "both find as many")]
)
def test_a_prediction_that_fails(counts: dict[str, int], claim: str) -> None:
    said, _, _ = prediction([result("lu", figures=lines(**counts))]).partition(" (")
    assert said.endswith(f"Figure 9 predicts that {claim} races, which does not hold")


def test_recordings_have_columns_of_their_own() -> None:
    results = [result("fft"), result("runs/x.trace", verdict=None)]
    by_name = {row["configuration"]: row for row in rows(results, "figure-7a")}
    assert by_name[CHOSEN]["recorded %"] == by_name[CHOSEN]["regular %"] > 0
    assert by_name[CHOSEN]["irregular, per pair %"] is None
    assert [row["program"] for row in rows(results, "verdicts")] == ["fft"]
    assert [row["program"] for row in rows(results, "figure-9b")][2:] == [
        "Mean of regular programs", "Mean of recorded programs", "Mean of programs", "Paper",
    ]  # fmt: skip


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


def test_policies_are_means_and_worst_over_programs() -> None:
    none = replace(POLICIES[RING], first_race=None)
    idle = replace(
        none,
        first_race=FirstRace(100, 0, 0),
        missing=RaceCount(1, 3),
        statistics=SigraceStatistics(instructions=100, ring_reads=5, conflicts_unheld=7),
    )
    results = [result("fft"), result("lu", policies=POLICIES | {RING: idle})]
    results.append(result("water", policies=POLICIES | {RING: none}))
    by_name = {row["policy"]: row for row in rows(results, "policies")}
    assert list(by_name) == [*policies.POLICIES, "Paper"]
    papers, ring = by_name[PAPERS], by_name[RING]
    assert (papers["overhead %"], papers["worst %"], papers["rollbacks"]) == (50, 50, 12)
    assert (papers["whole run %"], papers["for nothing %"], papers["dynamic"]) == (50, 80, 60)
    assert (ring["overhead %"], ring["worst %"], ring["whole run %"]) == (25, 50, 0)
    assert (ring["for nothing %"], ring["not held"], ring["missing, dynamic"]) == (None, 7, 3)
    assert ring["entries read"] == pytest.approx(5 / 3)
    assert by_name["Paper"]["overhead %"] == 22


def test_rings_by_programs() -> None:
    (fft,) = rows([result("fft")], "rings")
    assert (fft["overhead %"], fft["with ring %"], fft["races"], fft["missing"]) == (
        50, 50, "2 / 20", "0 / 0",
    )  # fmt: skip
    assert (fft["rollbacks"], fft["rollbacks, with ring"]) == (4, 0)


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
    results = [result("fft"), result("lu", hardware=None), result("x.trace", verdict=None)]
    assert problems(results) == []


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
