"""The page on the programs, and the counts on it."""

from racetrap.golden_model.trace.threads.events import (
    MemoryOrder,
    SyncClass,
    ThreadEvent,
    ThreadEventKind,
    ThreadTraceHeader,
)
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cpu import programs_page
from racetrap.sim.cpu.program_profile import Profile, profile
from racetrap.sim.cpu.programs.catalogue import PROGRAMS
from racetrap.sim.cpu.programs.small_programs import SMALL_PROGRAMS
from racetrap.sim.cpu.verdicts import ProgramVerdict
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


def test_page_tells_every_difference(monkeypatch):
    pair, other = ("a.c:1", "a.c:2"), ("a.c:3", "a.c:4")

    def fake(name, size, threads):
        return ProgramVerdict(name, (size,), 9, True, frozenset([pair]), frozenset([pair]))

    monkeypatch.setattr(programs_page, "program_verdict", fake)
    monkeypatch.setattr(programs_page, "program_trace", lambda name, size, threads: threads)
    monkeypatch.setattr(
        programs_page, "profile", lambda threads: Profile(threads, 1234567, 5, 0, 0, 0, 0, 0.5)
    )
    monkeypatch.setattr(
        programs_page, "small_verdicts",
        lambda: [ProgramVerdict("one", ("one",), 9, False, frozenset([pair]), frozenset([other]))],
    )  # fmt: skip
    page = programs_page.programs_page()
    judged = 2 * len(PROGRAMS) + 1
    assert f"equal on {judged - 1} of {judged} programs" in page
    assert f"Pairs of source lines are equal on {judged - 1} of them" in page
    assert "* one one, only the exact detector: `a.c:1` with `a.c:2`\n" in page
    assert "* one one, only ThreadSanitizer: `a.c:3` with `a.c:4`\n" in page
    assert "| 8 | 1,234,567 | 5 | 50% |" in page


def test_kept_page_has_every_program_and_only_equal_verdicts():
    page = _PAGE.read_text(encoding="utf-8")
    for name, program in PROGRAMS.items():
        assert f"## {name}: {program.title}\n" in page
    judged = 2 * len(PROGRAMS) + len(SMALL_PROGRAMS)
    assert f"equal on {judged} of {judged} programs" in page
