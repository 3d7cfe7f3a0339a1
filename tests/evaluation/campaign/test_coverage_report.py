"""Coverage of several runs, and of both systems, is merged."""

import json

import pytest

from racetrap.evaluation.campaign.coverage_report import merge_files
from racetrap.sim.cosim.scord.coverage_bins import BINS as SCORD_BINS
from racetrap.sim.cosim.sigrace.coverage_bins import BINS as SIGRACE_BINS


def test_files_are_merged(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"launch": 1}\n{"coverage": {"irq": 2}}\n')
    (tmp_path / "b.json").write_text(json.dumps({"irq": 3, "launch": 1}))
    merged = merge_files([tmp_path / "a.jsonl", tmp_path / "b.json"])
    assert list(merged) == ["scord"]
    assert merged["scord"].to_json() == {"irq": 5, "launch": 1}
    assert "row.load_first.load" in merged["scord"].missed
    assert ("irq", 5, "") in merged["scord"].table()


def test_bins_that_only_some_instances_have(tmp_path):
    """They are missed only where there is such an instance among the files."""
    (tmp_path / "a.json").write_text(json.dumps({"access.left_out.load.word": 4}))
    (tmp_path / "b.json").write_text(json.dumps({"irq": 3}))
    merged = merge_files(sorted(tmp_path.iterdir()))["scord"]
    assert merged.to_json() == {"access.left_out.load.word": 4, "irq": 3}
    assert "access.left_out.atomic.line" in merged.missed
    alone = merge_files([tmp_path / "b.json"])["scord"]
    for name in alone.missed:
        assert not name.startswith("access.left_out")


def test_systems_are_kept_apart(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"system": "sigrace"}\n{"coverage": {"link.shared": 2}}\n')
    (tmp_path / "b.json").write_text(json.dumps({"irq": 3}))
    (tmp_path / "c.json").write_text(json.dumps({"link.shared": 1}))
    merged = merge_files(sorted(tmp_path.iterdir()))
    assert merged["sigrace"].to_json() == {"link.shared": 3}
    assert merged["scord"].to_json() == {"irq": 3}


@pytest.mark.parametrize(
    "text", ['{"nonsense": 1}', '{"irq": 1, "link.shared": 1}', "[1]", '{"irq": "many"}']
)
def test_wrong_files_are_refused(tmp_path, text):
    (tmp_path / "c.json").write_text(text)
    with pytest.raises(ValueError, match=r"c\.json"):
        merge_files([tmp_path / "c.json"])


def test_bins_of_systems_have_different_names():
    assert not SCORD_BINS.keys() & SIGRACE_BINS.keys()
