"""Page of the programs, and profiles of their traces."""

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
from racetrap.sim.cpu.programs.small_programs import SMALL_PROGRAMS
from racetrap.sim.cpu.programs_page import programs_page
from tests.support import REPOSITORY

_KIND = ThreadEventKind
_PAGE = REPOSITORY / "docs" / "programs.md"


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


def test_page_is_current():
    assert _PAGE.read_text(encoding="utf-8") == programs_page(), "run `make docs`"


def test_page_has_every_program_and_its_comment():
    page = programs_page()
    for name, program in PROGRAMS.items():
        assert f"\n## {name}: {program.title}\n" in page
        scales = " | ".join(map(str, program.scales))
        assert f"\n| `{name}` | {program.kind} | " in page
        assert f" | {scales} | {len(program.benign_lines) or 'none'} |\n" in page
    assert page.count("\nSharing: ") == page.count("\nRaces: ") == len(PROGRAMS)
    for source in {case.source.name for case in SMALL_PROGRAMS.values()}:
        assert f"\n| `{source}` | " in page
