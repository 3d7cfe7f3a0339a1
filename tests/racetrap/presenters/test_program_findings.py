"""Findings of a program in sentences, and as test cases."""

from types import SimpleNamespace

from racetrap.presenters.program_findings import findings_of
from racetrap.presenters.race_choice import RaceChoice
from tests.support.oracle.findings import line_pair


def _found(traces=None, **changes):
    launch = SimpleNamespace(traced=True, blocks=1, checked_blocks=1)
    values = {
        "pairs": [], "strong": [], "lockstep": [], "known": [], "not_found": [],
        "divergences": {}, "events": [7], "ended_early": 0, "ending": "of at most 5 in 60 s",
        "outside": [], "partly_judged": 0,
        "rule": "causality", "independent": True, "detector": None,
    }  # fmt: skip
    check = {
        "faults": [],
        "problems": [],
        "status": 0,
        "runs": [SimpleNamespace(launches=[launch])],
    }
    traces = SimpleNamespace(**values | (traces or {}))
    return findings_of(SimpleNamespace(traces=traces, **check | changes), RaceChoice())


def test_what_is_wrong_is_said():
    barrier = SimpleNamespace(place="a.cu:2", thread=3, grid_block=4)
    found = _found(
        {"divergences": {"a.cu:2": barrier}, "outside": ["a.cu:7: too far"]},
        faults=["it broke", "a.cu:5: it broke"], problems=["f is not supported"], status=-11,
    )  # fmt: skip
    assert found.others == {
        "barriers": [
            "a.cu:2: fault: thread 3 of block 4 does not reach the barrier with the others"
        ],
        "faults": ["Fault: it broke", "a.cu:5: fault: it broke"],
        "outside": ["a.cu:7: fault: too far"],
        "program": ["Not done: f is not supported", "Program: ended with signal 11."],
    }  # fmt: skip


def test_a_program_without_a_finding_has_one_line_and_notes():
    found = _found({"strong": [line_pair("a.cu:1", "a.cu:3")]})
    assert found.opening == []
    assert found.summary == [
        "Races: none (exact, by rule causality). "
        "Checked: 7 events in 1 schedule of at most 5 in 60 s."
    ]
    assert found.notes == [
        "Another schedule or input may have other races.",
        "Checked: 1 of 1 launch, 0 faults; accesses of the host to memory that it shares with "
        "kernels are not checked.",
    ]


def test_what_lockstep_hides_is_said_first():
    hidden = [line_pair("a.cu:1", "a.cu:3"), line_pair("a.cu:2", "a.cu:3")]
    for rule, pairs, said in (
        ("causality", hidden, "without it, 2 more pairs of source lines would race"),
        ("ptx", [], "this hides no race of the runs checked"),
        ("barracuda", [], "races inside a warp are not looked for"),
        ("scoped", [], "races inside a warp are not looked for"),
    ):
        (line,) = _found({"independent": False, "lockstep": pairs, "rule": rule}).opening
        assert line.startswith("Lockstep: ")
        assert said in line


def test_cases_of_junit():
    assert set(_found().cases.values()) == {None}
    pair = line_pair("a.cu:1", "a.cu:3")
    cases = _found({"pairs": [pair, pair]}, status=4).cases
    assert cases["races"].count("\n") == 1
    assert cases["program"] == "Program: ended with exit status 4. [RT405]"
    assert cases["barriers"] is cases["faults"] is None


def test_what_a_baseline_has_is_counted():
    gone = SimpleNamespace(later=SimpleNamespace(file="b.cu", text="x = 1;"))
    known = [line_pair("a.cu:1", "a.cu:3", 9)]
    summary = _found({"known": known, "not_found": [gone]}).summary
    assert summary[-2:] == [
        "Known: 1 pair of source lines of the baseline, seen 9 times.",
        "Not found: race of the baseline at b.cu: x = 1;",
    ]  # fmt: skip
