"""Bugs: pairs of lines that lack the same synchronisation, or that lack it on one object."""

from racetrap.golden_model.barracuda.race import Missing
from racetrap.verdict.cause import Cause, Instruction, MemoryObject
from racetrap.verdict.race_findings import race_findings
from tests.support.oracle.findings import line_pair


def _pair(number, missing, *lines, name="", instances=1):
    """A pair of lines whose cause has these lines of instructions to change."""
    changes = tuple(Instruction("atomic", (f"a.cu:{line}",), 8 * line) for line in lines)
    memory = MemoryObject(name, "a variable", "", 4, "global") if name else None
    places = f"a.cu:{number}", f"a.cu:{number + 100}"
    cause = Cause(missing, changes)
    return line_pair(*places, instances, cause=cause, memory_object=memory)


def _lines(pairs):
    return [
        (finding.code, [pair.first.earlier.place for pair in finding.pairs])
        for finding in race_findings(pairs)
    ]


def test_a_lock_of_too_narrow_a_scope_is_one_bug():
    pairs = [
        _pair(1, Missing.SCOPE, 7, name="lock"),
        _pair(2, Missing.SCOPE, 9, name="lock", instances=5),
        # The data race needs both changes, which makes one bug of all.
        _pair(3, Missing.SCOPE, 7, 9, name="count", instances=3),
    ]
    assert _lines(pairs) == [("RT105", ["a.cu:2", "a.cu:3", "a.cu:1"])]


def test_one_object_without_a_barrier_is_one_bug():
    pairs = [
        _pair(1, Missing.BARRIER, name="tile", instances=2), _pair(2, Missing.BARRIER, name="sums"),
        _pair(3, Missing.BARRIER, name="tile"), _pair(4, Missing.WARP_BARRIER, name="tile"),
    ]  # fmt: skip
    assert _lines(pairs) == [
        ("RT101", ["a.cu:1", "a.cu:3"]), ("RT101", ["a.cu:2"]), ("RT102", ["a.cu:4"]),
    ]  # fmt: skip


def test_without_a_cause_or_an_object_each_pair_is_a_bug():
    pairs = [_pair(1, Missing.BARRIER), _pair(2, Missing.BARRIER), line_pair("a.cu:3", "a.cu:4")]
    assert [code for code, _ in _lines(pairs)] == ["RT101", "RT101", "RT201"]
