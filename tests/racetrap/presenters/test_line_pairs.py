"""Findings as text and annotations."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from racetrap.golden_model.call_stacks import Frame
from racetrap.presenters.findings import Findings, annotation_lines, print_findings
from racetrap.presenters.line_pairs import pair_to_dict, stack_text
from racetrap.presenters.race_choice import RaceChoice
from tests.support.oracle.findings import line_pair


def _printed(show, *arguments):
    stream = io.StringIO()
    show(Console(file=stream, soft_wrap=True), *arguments)
    return stream.getvalue()


@pytest.fixture
def pair(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.cu").write_text("[red] read 100%;\n\n  write;\n")
    return line_pair(f"{tmp_path}/a.cu:1", f"{tmp_path}/a.cu:3", 900)


def test_a_finding_begins_as_a_compilers_message(pair):
    lines = _printed(print_findings, Findings([pair], ["The end."]), RaceChoice()).splitlines()
    assert lines[0] == (
        "a.cu:3: race: store races with load at a.cu:1: nothing orders the two accesses [RT201]"
    )
    assert lines[1:7] == [
        "  earlier: load at a.cu:1, thread 1 of block 0", "    [red] read 100%;", "          ^",
        "  later: store at a.cu:3, thread 3 of block 2", "      write;", "      ^",
    ]  # fmt: skip
    assert lines[7].startswith(
        "  seen 900 times, between 1 pair of blocks (900 unordered; 900 inter-"
    )
    assert lines[8:] == ["", "The end."]


def test_a_call_path_is_one_line_and_of_eight_functions_at_most(pair):
    stack = [Frame(12 - n, f"f{n}", f"a.cu:{n}") for n in range(12)]
    pair.first = replace(
        pair.first,
        earlier=replace(pair.first.earlier, stack=stack[:1]),
        later=replace(pair.first.later, stack=[*stack[:1], Frame(0, "outer", "")]),
    )
    lines = _printed(print_findings, Findings([pair], []), RaceChoice()).splitlines()
    assert "called" not in "".join(lines[1:4])
    assert lines[7] == "    in f0, called at a.cu:0 in outer"
    whole = stack_text(replace(pair.first.later, stack=stack))
    assert whole.startswith("in f0, called at a.cu:0 in f1, called at a.cu:1 in f2, ")
    assert whole.endswith(" in f7, 4 frames more")
    assert pair_to_dict(pair)["later"]["stack"] == [
        {"function": "f0", "called_at": "a.cu:0"}, {"function": "outer", "called_at": None},
    ]  # fmt: skip


def test_a_race_of_threads_has_no_blocks():
    pair = line_pair("pc 0x40", "pc 0x48", block_pairs=0, is_ordered=False)
    text = _printed(print_findings, Findings([pair], []), RaceChoice())
    assert "  one: load at pc 0x40" in text
    assert "(1 unordered; 1 inter-block); first at global" in text


@pytest.mark.parametrize(
    ("choice", "shown"),
    [
        (RaceChoice(), 20),
        (RaceChoice(shows_all=True), 25),
        (RaceChoice(limit=2), 2),
        (RaceChoice(limit=0), 0),
        (RaceChoice(shows_all=True, limit=24), 24),
    ],
)
def test_a_limit_says_what_it_hides(pair, choice, shown):
    text = _printed(print_findings, Findings([pair] * 25, []), choice)
    assert text.count(": race: ") == shown
    ending = "s" * (shown != 24)
    assert (f"{25 - shown} more finding{ending}: --limit all shows them." in text) == (shown < 25)


def test_annotations_name_file_and_line(pair):
    others = {"faults": ["b.cu:4: fault: it broke", "Fault: it broke"], "program": []}
    found = Findings([pair, line_pair("pc 0x40", "pc 0x48")], [], others)
    first, second, *rest = annotation_lines(found).splitlines()
    assert rest == [
        "::error file=b.cu,line=4,title=RT402::fault: it broke",
        "::error title=RT402::Fault: it broke",
    ]
    assert first.startswith(
        "::error file=a.cu,line=3,col=3,title=RT201::store races with load at a.cu:1"
    )
    assert second.startswith("::error title=RT201::store races")


def test_a_file_name_does_not_end_an_annotation(pair):
    pair = line_pair("x,y:\n::error::bad\n100%:1", "a,b:c\n.cu:2")
    text = annotation_lines(Findings([pair], []))
    assert text.count("\n") == 1
    assert text.startswith("::error file=a%2Cb%3Ac%0A.cu,line=2,col=3,title=RT201::")
    assert "x,y:%0A::error::bad%0A100%25:1" in text


def test_finding_as_data(pair):
    data = pair_to_dict(pair)
    assert data["earlier"] == {"place": "a.cu:1", "column": 7, "stack": []}
    assert (data["instances"], data["kinds"], data["schedules"]) == (900, {"unordered": 900}, [0])
