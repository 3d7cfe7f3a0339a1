"""Detection quality of access buffers that leave accesses out, against the exact oracle.

A buffer that samples needs no clock.  One that drops does: here each transaction of a run takes a
tick, and the detector checks some words of its buffers in a tick.  An SM waits at a fence until its
buffer is empty, since whatever follows may rely on it.

Ref: ScoRD (ISCA'20) Section V (LHD), Table VI.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from racetrap.evaluation.scord.programs import Build, Schedule, trace_of
from racetrap.evaluation.table import Table
from racetrap.generators.scord import SCORD
from racetrap.golden_model.events import Event
from racetrap.golden_model.scord.access_buffer import AccessBuffer
from racetrap.golden_model.scord.coalescer import coalesce
from racetrap.golden_model.scord.packets import Step, Transaction, TransactionKind
from racetrap.golden_model.scord.params import AccessPolicy, ScordParams
from racetrap.golden_model.scord.scord import Scord
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.executor.device import DEFAULT_REGION_LOG2
from racetrap.sim.gpu.oracle import PAPER_RULE, run_oracle
from racetrap.verdict.gpu.findings import Reports, UniqueRace, reports_of
from racetrap.verdict.gpu.fit import region_of
from racetrap.verdict.gpu.oracle import NOT_CHECKED, explain_races, racing_pairs, unconfirmed
from racetrap.verdict.scord.findings import ScordFinder

_DEPTH = 8
_PARAMS = SCORD.presets["scord"].params


@dataclass(frozen=True)
class Policy:
    """A policy and how fast the detector is.

    Parameters
    ----------
    params : ScordParams
        Configuration.
    words : int
        Words checked in a tick, over all SMs; 0: everything at once.
    """

    params: ScordParams
    words: int = 0


def _policy(policy: AccessPolicy, sample_log2: int = 0, words: int = 0) -> Policy:
    params = replace(
        _PARAMS, access_buffer_depth=_DEPTH, access_policy=policy, sample_log2=sample_log2
    )
    return Policy(params, words)


#: Policies by name.
POLICIES: Mapping[str, Policy] = {
    "stall": Policy(_PARAMS),
    **{
        f"sample 1 line of {1 << log2}": _policy(AccessPolicy.SAMPLE, log2) for log2 in (1, 2, 3, 4)
    },
    **{
        f"drop, {words} words a tick": _policy(AccessPolicy.DROP, words=words)
        for words in (16, 8, 4, 2, 1)
    },
}


@dataclass(frozen=True)
class PolicyRun:
    """Runs of a build under all policies; plain data, for a worker process.

    Parameters
    ----------
    build : Build
        What to run.
    size : str
        Size of an application's input.
    schedules : tuple of Schedule
        How to schedule it.
    """

    build: Build
    size: str
    schedules: tuple[Schedule, ...]


@dataclass
class PolicyCount:
    """Result of a policy for a build, over all schedules.

    Parameters
    ----------
    caught : bool
        Whether anything was reported.
    found, false : set
        Pairs of instructions of the oracle's races that were reported; reports that the oracle
        does not confirm in the run.
    checked, left_out : int
        Accesses.
    """

    caught: bool = False
    found: set[frozenset[int]] = field(default_factory=set)
    false: set[UniqueRace] = field(default_factory=set)
    checked: int = 0
    left_out: int = 0


def fullness(transactions: Iterable[tuple[int, Transaction]], policy: Policy) -> Iterator[bool]:
    """For each transaction of a run, whether its SM's buffer is full."""
    params = policy.params
    buffer = AccessBuffer(params)
    held: list[deque[int]] = [deque() for _ in range(params.sm_count)]
    next_sm = 0

    def tick() -> None:
        nonlocal next_sm
        words = policy.words
        for sm in (*range(next_sm, params.sm_count), *range(next_sm)):
            while words and held[sm]:
                taken = min(words, held[sm][0])
                words -= taken
                held[sm][0] -= taken
                if not held[sm][0]:
                    held[sm].popleft()
        next_sm = (next_sm + 1) % params.sm_count

    for sm, transaction in transactions:
        if not policy.words:
            yield False
            continue
        tick()
        while not buffer.takes(transaction, len(held[sm])):
            tick()
        is_full = len(held[sm]) >= params.access_buffer_depth
        yield is_full
        if buffer.step(transaction, is_full):
            held[sm].append(max(1, transaction.mask.bit_count()))
        while transaction.kind == TransactionKind.FENCE and held[sm]:
            tick()


#: A run, the pairs of instructions that race in it, and what each policy made of it.
JudgedBuild: TypeAlias = tuple[PolicyRun, set[frozenset[int]], dict[str, PolicyCount]]


def judge(run: PolicyRun) -> JudgedBuild:
    """Make all runs of a build.

    Returns
    -------
    PolicyRun, set, dict
        The run, the pairs of instructions of the races that the oracle finds and ScoRD looks for,
        and what each policy made of it.
    """
    pairs: set[frozenset[int]] = set()
    counts = {name: PolicyCount() for name in POLICIES}
    for schedule in run.schedules:
        trace = trace_of(run.build, run.size, schedule, schedule.seed, DEFAULT_REGION_LOG2)
        races = run_oracle(trace, PAPER_RULE).races
        checked = [
            each.race
            for each in explain_races(trace, _PARAMS, races, ())
            if each.outcome not in NOT_CHECKED.values()
        ]
        racing = racing_pairs(races)
        mine = set(map(frozenset, racing_pairs(checked)))
        pairs |= mine
        for name, policy in POLICIES.items():
            _play(trace, policy, counts[name], mine, racing)
    return run, pairs, counts


def _play(
    trace: Trace,
    policy: Policy,
    count: PolicyCount,
    mine: set[frozenset[int]],
    racing: set[tuple[int, int]],
) -> None:
    """Run the golden model over a trace under a policy, and add what it finds."""
    params, region = policy.params, region_of(trace)
    scord = Scord(params, region, keep_races=False)
    finder = ScordFinder(params, region, trace)
    events = list(trace)
    transactions = [coalesce(event, params) for event in events]
    full = fullness(
        ((event.sm, each) for event, some in zip(events, transactions, strict=True)
         for each in some),
        policy,
    )  # fmt: skip
    of_event = iter(transactions)

    def run(event: Event) -> list[Step]:
        own = next(of_event)
        steps = scord.run(event) if not own else []
        for transaction in own:
            steps += scord.transact(event.sm, transaction, next(full))
        return steps

    reports = reports_of(finder.take_all(events, run))
    counters = scord.counters
    count.checked += counters["accesses"] + counters["unmonitored"]
    count.left_out += counters.get("accesses_left_out", 0)
    count.caught |= bool(reports)
    count.found |= _pairs_of(reports) & mine
    count.false |= set(unconfirmed(reports, racing))


def _pairs_of(reports: Reports) -> set[frozenset[int]]:
    return {frozenset((pc, other)) for (pc, _), earlier in reports.items() for other in earlier}


def tables(judged: Iterable[JudgedBuild]) -> list[Table]:
    """A table of all policies, from what ``judge`` gave for each build."""
    every = list(judged)
    racy = [each for each in every if each[1]]
    rows = []
    for name in POLICIES:
        counts = [counts[name] for _, _, counts in every]
        checked = sum(count.checked for count in counts)
        left_out = sum(count.left_out for count in counts)
        rows.append((
            name,
            len(racy),
            sum(counts[name].caught for _, _, counts in racy),
            sum(len(pairs) for _, pairs, _ in racy),
            sum(len(counts[name].found) for _, _, counts in racy),
            sum(len(count.false) for count in counts),
            100 * left_out / max(1, checked + left_out),
        ))  # fmt: skip
    return [
        Table(
            "policies", "Policies of access buffers, preset scord",
            "Racy builds with any report; pairs of instructions that race, and those reported; "
            "different reports that the oracle does not confirm in their run; accesses left out.",
            ("policy", "racy builds", "caught", "races", "found", "false", "left out, %"),
            tuple(rows),
        )
    ]  # fmt: skip
