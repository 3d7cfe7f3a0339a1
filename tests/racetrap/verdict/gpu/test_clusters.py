"""Verdict on clusters of several blocks: causes, whose memory it is, and what knows no clusters."""

import pytest

from racetrap.golden_model.barracuda.race import Missing
from racetrap.presenters.line_pairs import race_sentence
from racetrap.presenters.race_findings import object_text
from racetrap.sim.gpu.oracle import run_oracle
from racetrap.verdict.cause import MemoryObject
from racetrap.verdict.gpu.causes import causes_of
from racetrap.verdict.gpu.fit import region_of
from racetrap.verdict.gpu.line_races import named_causes, oracle_races_by_line
from racetrap.verdict.gpu.timelines import timeline_of, tracks_of
from tests.support.gpu.clusters.cases import run_case


def _races(name, scheduler="newest-first"):
    trace = run_case(name, scheduler).trace
    races = run_oracle(trace, "causality", True).races
    causes = named_causes(
        causes_of(trace, "causality", races, True), trace.header, trace.events
    )  # fmt: skip
    return trace, list(oracle_races_by_line(races, trace.header, causes=causes))


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("ring_racy", Missing.CLUSTER_BARRIER), ("sum_racy", Missing.CLUSTER_BARRIER),
        ("counter_racy", Missing.SCOPE), ("fences_racy", Missing.SCOPE),
        ("handover_racy", Missing.RELEASE),
    ],
)  # fmt: skip
def test_cause(name, missing):
    _, (race,) = _races(name)
    assert race.cause.missing is missing


def test_whose_memory_it_is():
    _, (race,) = _races("ring_racy")
    blocks = {race.earlier.details["grid_block"], race.later.details["grid_block"]}
    owner = race.details["owner"]
    assert owner in blocks
    assert f" of block {owner}, launch 0" in race.where
    memory = MemoryObject("inbox", "a `__shared__` variable", "k.cu:5", 128, "shared")
    assert (
        object_text(memory, "[1]", race.details) == f"shared `inbox[1]` of block {owner} (k.cu:5)"
    )


def test_the_end_of_a_block_is_the_later_event():
    _, (race,) = _races("sum_racy")
    assert race_sentence(race).startswith("end of the block races with load at clusters_sm90.cu:")
    assert race.later.actor == f"thread 0 of block {race.details['owner']}"


def test_the_barrier_of_the_cluster_is_in_the_timeline():
    trace, (race,) = _races("ring_racy")
    moments = timeline_of(race, tracks_of(race, trace, trace.header)).moments
    assert {"arrival at barrier of the cluster", "wait at barrier of the cluster"} <= {
        moment.words for moment in moments
    }


def test_what_knows_no_clusters_refuses_them():
    trace = run_case("ring", "in-order").trace
    with pytest.raises(ValueError, match="must have no clusters of several blocks"):
        region_of(trace)
    for rule in ("barracuda", "scoped"):
        with pytest.raises(ValueError, match=f"must be causality or ptx, not {rule}"):
            run_oracle(trace, rule)
