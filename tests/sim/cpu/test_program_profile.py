"""Profiles of the programs' traces."""

from racetrap.golden_model.trace.threads.events import (
    MemoryOrder,
    SyncClass,
    ThreadEvent,
    ThreadEventKind,
    ThreadTraceHeader,
)
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cpu import program_profile
from racetrap.sim.cpu.program_profile import Profile, profile
from racetrap.sim.cpu.programs.catalogue import PROGRAMS

_KIND = ThreadEventKind


def test_profile_counts_by_hand():
    events = [
        ThreadEvent(_KIND.BEGIN, 0),
        ThreadEvent(_KIND.STORE, 0, 0x100, 8, instructions=5),  # words 0x100 (shared) and 0x104
        ThreadEvent(_KIND.CREATE, 0, value=1),
        ThreadEvent(_KIND.BEGIN, 1),
        ThreadEvent(_KIND.LOAD, 1, 0x102, 1, instructions=3),
        ThreadEvent(_KIND.ATOMIC_UPDATE, 1, 0x200, 4, MemoryOrder.RELAXED),
        ThreadEvent(_KIND.ACQUIRE, 1, 0x300, value=SyncClass.MUTEX),
        ThreadEvent(_KIND.RELEASE, 1, 0x300, value=SyncClass.MUTEX),
        ThreadEvent(_KIND.END, 1, instructions=2),
        ThreadEvent(_KIND.JOIN, 0, value=1),
        ThreadEvent(_KIND.END, 0),
    ]
    counts = profile(ThreadTrace.from_events(ThreadTraceHeader(threads=2), events))
    assert counts == Profile(
        threads=2, events=11, accesses=2, atomics=1, synchronisations=2, instructions=10,
        granules=3, shared=2 / 3,
    )  # fmt: skip


def test_profile_of_a_trace_without_accesses():
    events = [ThreadEvent(_KIND.BEGIN, 0), ThreadEvent(_KIND.END, 0)]
    counts = profile(ThreadTrace.from_events(ThreadTraceHeader(threads=1), events))
    assert (counts.accesses, counts.granules, counts.shared) == (0, 0, 0.0)


def test_profiles_of_all_programs(monkeypatch, capsys):
    def fake(name, size, threads):
        events = [ThreadEvent(_KIND.BEGIN, 0), ThreadEvent(_KIND.END, 0)]
        assert (size, threads) == ("small", 8)
        return ThreadTrace.from_events(ThreadTraceHeader(threads=1), events)

    monkeypatch.setattr(program_profile, "program_trace", fake)
    program_profile.main("small", "8")
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == list(PROGRAMS)
    assert ": 1 threads, 2 events, 0 accesses, " in lines[0]
