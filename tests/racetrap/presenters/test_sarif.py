"""Findings as SARIF."""

from dataclasses import replace

import pytest

from racetrap.golden_model.call_stacks import Frame
from racetrap.presenters.findings import Findings
from racetrap.presenters.sarif import sarif_log
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
