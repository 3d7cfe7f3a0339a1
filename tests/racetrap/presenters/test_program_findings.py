"""Findings of a program: text, annotations, JUnit cases and SARIF."""

import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from racetrap.presenters.program_findings import (
    print_annotations,
    print_check,
    problems_by_case,
)
from racetrap.presenters.program_sarif import program_sarif
from tests.support.oracle.findings import line_pair


def _check(**changes):
    run = SimpleNamespace(launches=[SimpleNamespace(traced=True)], trace=[0] * 7)
    values = {
        "pairs": [], "known": [], "not_found": [], "divergences": {}, "faults": [],
        "problems": [], "status": 0, "runs": [run],
    }  # fmt: skip
    return SimpleNamespace(**values | changes)


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
    lines = _printed(print_check, _check(pairs=[pair]), None).splitlines()
    assert lines[0] == (
        "a.cu:3: race: store races with load at a.cu:1: nothing orders the two accesses"
    )
    assert lines[1:7] == [
        "  earlier: load at a.cu:1, thread 1 of block 0", "    [red] read 100%;", "    ^",
        "  later: store at a.cu:3, thread 3 of block 2", "      write;", "      ^",
    ]  # fmt: skip
    assert lines[7].startswith("  900 instances (900 unordered; 900 inter-block) in 1 pair of")
    assert len(lines) <= 20


def test_a_limit_says_what_it_hides(pair):
    text = _printed(print_check, _check(pairs=[pair] * 5), 2)
    assert text.count(": race: ") == 2
    assert "3 more findings: --all shows them." in text
    assert _printed(print_check, _check(pairs=[pair] * 5), None).count(": race: ") == 5


def test_what_else_is_wrong_is_said():
    barrier = SimpleNamespace(place="a.cu:2", thread=3, grid_block=4)
    text = _printed(print_check, _check(
        divergences={"a.cu:2": barrier}, faults=["it broke"], problems=["f is not supported"],
        status=-11,
    ), None)  # fmt: skip
    for sentence in (
        "a.cu:2: barrier: thread 3 of block 4 does not come", "Fault: it broke",
        "Not done: f is not supported", "Program: ended with signal 11.",
    ):  # fmt: skip
        assert sentence in text


def test_annotations_name_file_and_line(pair):
    text = _printed(print_annotations, _check(pairs=[pair, line_pair("pc 0x40", "pc 0x48")]))
    first, second = text.splitlines()
    assert first.startswith("::error file=a.cu,line=3,title=race::store races with load at a.cu:1")
    assert second.startswith("::error title=race::store races")


def test_cases_of_junit(pair):
    assert set(problems_by_case(_check()).values()) == {None}
    cases = problems_by_case(_check(pairs=[pair, pair], status=4, problems=["f is not supported"]))
    assert cases["races"].count("\n") == 1
    assert cases["program"] == "f is not supported\nProgram: ended with exit status 4."
    assert cases["barriers"] is cases["faults"] is None


def test_sarif_is_valid_by_its_schema(pair):
    model = pytest.importorskip("pydantic_sarif.model", reason="needs the extra dev")
    schema = model.StaticAnalysisResultsFormatSarifVersion210JsonSchema
    outside = line_pair("pc 0x40", "/else where/b.cu:7")
    document = program_sarif([pair, outside])
    assert len(schema.model_validate(document).runs[0].results) == 2
    first, second = document["runs"][0]["results"]
    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "a.cu"}, "region": {"startLine": 3},
    }  # fmt: skip
    location = second["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "file:///else%20where/b.cu"
    assert first["partialFingerprints"] != second["partialFingerprints"]
    first["level"] = "bad"
    with pytest.raises(ValueError, match="level"):
        schema.model_validate(document)
