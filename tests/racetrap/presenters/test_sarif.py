"""Findings as SARIF."""

from dataclasses import replace

import pytest

from racetrap.calls.check import check
from racetrap.golden_model.call_stacks import Frame
from racetrap.presenters.findings import Findings
from racetrap.presenters.sarif import sarif_log
from racetrap.sim.gpu.editing.edits import Edit
from racetrap.verdict.gpu.cure.trials import Sources
from tests.support import REPOSITORY
from tests.support.oracle.findings import line_pair


def test_sarif_is_valid_by_its_schema(tmp_path, monkeypatch):
    model = pytest.importorskip("pydantic_sarif.model", reason="needs the extra dev")
    schema = model.StaticAnalysisResultsFormatSarifVersion210JsonSchema
    monkeypatch.chdir(tmp_path)
    pair = line_pair(f"{tmp_path}/a.cu:1", f"{tmp_path}/a.cu:3", 900)
    outside = line_pair("pc 0x40", "/else where/b.cu:7", kind="missing-lock")
    others = {"faults": ["b.cu:4: fault: it broke", "Fault: it broke"], "barriers": []}
    document = sarif_log(Findings([pair, outside], [], others))
    assert len(schema.model_validate(document).runs[0].results) == 4
    run = document["runs"][0]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert rules == ["RT110", "RT201", "RT402"]
    first, second, fault, other = run["results"]
    assert (fault["ruleId"], fault["message"]) == ("RT402", {"text": "fault: it broke"})
    assert fault["locations"][0]["physicalLocation"]["region"] == {"startLine": 4}
    assert "locations" not in other
    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "a.cu"}, "region": {"startLine": 3, "startColumn": 3},
    }  # fmt: skip
    location = second["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "file:///else%20where/b.cu"
    assert first["partialFingerprints"] != second["partialFingerprints"]
    assert "stacks" not in first
    first["level"] = "bad"
    with pytest.raises(ValueError, match="level"):
        schema.model_validate(document)


def test_columns_are_those_of_expressions():
    """PTX has the column of the statement, 9 in both lines."""
    result = check(REPOSITORY / "docs" / "examples" / "handover.ptx")
    (run,) = sarif_log(result.findings)["runs"]
    (found,) = run["results"]
    places = [*found["locations"], *found["relatedLocations"]]
    regions = [place["physicalLocation"]["region"] for place in places]
    lines = [(region["startLine"], region.get("startColumn")) for region in regions]
    assert lines[:2] == [(12, 27), (6, 9)]


def test_level_of_advice_is_a_note():
    model = pytest.importorskip("pydantic_sarif.model", reason="needs the extra dev")
    pairs = [line_pair("a.cu:1", "a.cu:3"), line_pair("a.cu:5", "a.cu:7")]
    advice = {"unordered-strong": pairs[1:], "lockstep": pairs[1:]}
    others = {"barriers": ["a.cu:2: fault: thread 3 of block 4 does not reach the barrier"]}
    document = sarif_log(Findings(pairs[:1], [], others, advice=advice))
    model.StaticAnalysisResultsFormatSarifVersion210JsonSchema.model_validate(document)
    levels = [(each["ruleId"], each["level"]) for each in document["runs"][0]["results"]]
    assert levels == [
        ("RT201", "error"), ("RT401", "error"), ("RT501", "note"), ("RT502", "note"),
    ]  # fmt: skip


def test_cure_is_a_fix(tmp_path, monkeypatch):
    model = pytest.importorskip("pydantic_sarif.model", reason="needs the extra dev")
    monkeypatch.chdir(tmp_path)
    text = "/* ä𝄞 */ a;\nb;\n".encode()
    edits = (
        Edit("k.cu", text.index(b"a;"), text.index(b"a;"), "f(); ", "insert `f();`"),
        Edit("k.cu", text.index(b"b;"), text.index(b"b;") + 1, "c", "change `b` to `c`"),
    )
    pair = line_pair("k.cu:1", "k.cu:2")
    pair.cure = Sources(tmp_path, {"k.cu": text}, lambda folder: None).cure(edits)
    document = sarif_log(Findings([pair], []))
    model.StaticAnalysisResultsFormatSarifVersion210JsonSchema.model_validate(document)
    (fix,) = document["runs"][0]["results"][0]["fixes"]
    assert fix["description"]["text"] == "insert `f();`; change `b` to `c`"
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"] == {"uri": "k.cu"}
    first, second = change["replacements"]
    # Columns count units of UTF-16: the clef has two.
    assert first == {
        "deletedRegion": {"startLine": 1, "startColumn": 11, "endLine": 1, "endColumn": 11},
        "insertedContent": {"text": "f(); "},
    }
    assert second == {
        "deletedRegion": {"startLine": 2, "startColumn": 1, "endLine": 2, "endColumn": 2},
        "insertedContent": {"text": "c"},
    }


def test_stacks_have_the_place_that_each_function_has_come_to(tmp_path, monkeypatch):
    model = pytest.importorskip("pydantic_sarif.model", reason="needs the extra dev")
    monkeypatch.chdir(tmp_path)
    pair = line_pair(f"{tmp_path}/a.cu:1", f"{tmp_path}/a.cu:3")
    stack = (Frame(1, "add", f"{tmp_path}/a.cu:7"), Frame(0, "kernel", ""))
    pair.first = replace(pair.first, later=replace(pair.first.later, stack=stack))
    document = sarif_log(Findings([pair], []))
    model.StaticAnalysisResultsFormatSarifVersion210JsonSchema.model_validate(document)
    ((later,),) = (result["stacks"] for result in document["runs"][0]["results"])
    assert later["message"] == {"text": "later access"}
    inner, outer = (frame["location"] for frame in later["frames"])
    assert inner["message"] == {"text": "add"}
    assert inner["physicalLocation"]["region"] == {"startLine": 3, "startColumn": 3}
    assert outer["message"] == {"text": "kernel"}
    assert outer["physicalLocation"]["region"] == {"startLine": 7}


def test_an_expression_around_an_access_has_an_end(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pair = line_pair(f"{tmp_path}/a.cu:1", f"{tmp_path}/a.cu:3")
    pair.first = replace(pair.first, later=replace(pair.first.later, column=5, width=9))
    (result,) = sarif_log(Findings([pair], []))["runs"][0]["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 3, "startColumn": 5, "endColumn": 14}
