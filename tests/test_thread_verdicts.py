"""Verdicts on small programs: each program's own, and equal to the compiler's detector's."""

import pytest

from tests import thread_verdicts as module
from tests.support.campaign import later_but
from tests.support.threads.small_programs import SMALL_PROGRAMS
from tests.thread_verdicts import SmallVerdict, main, small_verdicts

#: Of the sources that take long to compile, a few cases.
_FEW = {
    "c11.c": ("c11_mutex", "c11_condition_before_data", "c11_once"),
    "cxx20.cpp": ("cxx_latch", "cxx_semaphore_of_two", "cxx_atomic_wait"),
    "openmp.c": ("openmp_barrier", "openmp_no_barrier", "openmp_lock"),
    "openmp_tasks.c": ("openmp_task_after_writer", "openmp_task_after_another"),
}
_PAIR = frozenset({("a.c:1", "a.c:2")})


#: Programs whose lines that race depend on who comes first; each detector has a run of its own.
_BY_TIMING = {"once_imitated"}


#: Sources whose programs are judged now, and those of the campaign.
_NOW = frozenset({"conditions.c", "mutexes.c"})
_SOURCES = frozenset(case.source.name for case in SMALL_PROGRAMS.values())


@pytest.mark.parametrize(
    ("sources", "least"),
    later_but(lambda each: each[0] == _NOW, [(_NOW, 10), (_SOURCES - _NOW, 40)]),
    ids=["few", "others"],
)
def test_small_programs_have_their_verdicts_and_equal_lines(sources, least):
    programs = [
        case
        for case in SMALL_PROGRAMS.values()
        if case.source.name in sources and case.name in _FEW.get(case.source.name, (case.name,))
    ]
    verdicts = list(small_verdicts(programs))
    assert [verdict.program for verdict in verdicts] == programs
    assert [verdict for verdict in verdicts if not verdict.is_right] == []
    # Nothing is forgotten in programs of a few accesses.
    seen = [verdict for verdict in verdicts if not verdict.program.unseen]
    assert [verdict for verdict in seen if not verdict.agrees] == []
    assert [
        verdict for verdict in seen
        if verdict.program.name not in _BY_TIMING and verdict.exact != verdict.sanitizer
    ] == []  # fmt: skip
    assert len(seen) >= least


@pytest.mark.campaign
def test_all_small_programs(capsys):
    assert main() == 0, capsys.readouterr().out


def test_table_tells_right_from_wrong(monkeypatch, capsys):
    clean, racy = SMALL_PROGRAMS["mutex_held"], SMALL_PROGRAMS["mutex_left_out"]
    unseen = SMALL_PROGRAMS["openmp_lock"]

    def status(*verdicts):
        monkeypatch.setattr(module, "small_verdicts", lambda: verdicts)
        return main(), capsys.readouterr().out

    right = SmallVerdict(clean, frozenset(), frozenset()), SmallVerdict(racy, _PAIR, _PAIR)
    code, text = status(*right, SmallVerdict(unseen, frozenset(), _PAIR))
    assert code == 0
    assert "not seen: waiting of libgomp" in text
    for wrong in (
        SmallVerdict(clean, _PAIR, _PAIR), SmallVerdict(racy, frozenset(), _PAIR),
        SmallVerdict(racy, _PAIR, frozenset()), SmallVerdict(unseen, _PAIR, _PAIR),
    ):  # fmt: skip
        code, text = status(*right, wrong)
        assert code == 1
        assert "WRONG" in text
