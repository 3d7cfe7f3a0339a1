"""Findings as SARIF."""

import pytest

from racetrap.presenters.sarif import sarif_log
from tests.support.oracle.findings import line_pair


def test_sarif_is_valid_by_its_schema(tmp_path, monkeypatch):
    model = pytest.importorskip("pydantic_sarif.model", reason="needs the extra dev")
    schema = model.StaticAnalysisResultsFormatSarifVersion210JsonSchema
    monkeypatch.chdir(tmp_path)
    pair = line_pair(f"{tmp_path}/a.cu:1", f"{tmp_path}/a.cu:3", 900)
    outside = line_pair("pc 0x40", "/else where/b.cu:7", kind="missing-lock")
    document = sarif_log([pair, outside])
    assert len(schema.model_validate(document).runs[0].results) == 2
    run = document["runs"][0]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["unordered", "missing-lock"]
    first, second = run["results"]
    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "a.cu"}, "region": {"startLine": 3, "startColumn": 3},
    }  # fmt: skip
    location = second["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "file:///else%20where/b.cu"
    assert first["partialFingerprints"] != second["partialFingerprints"]
    first["level"] = "bad"
    with pytest.raises(ValueError, match="level"):
        schema.model_validate(document)
