"""Fuzzing on the command line: counts, findings, files that are kept."""

import json

from racetrap.commands import fuzz
from racetrap.evaluation.fuzzing.fuzz import Finding


def test_nothing_found(racetrap):
    done = racetrap("--jobs", 1, "fuzz", "coverage", "--budget", 20, "--json", "-")
    assert done.exit_code == 0
    document = json.loads(done.stdout)
    assert document["readers"] == [{"reader": "coverage", "inputs": 20, "findings": 0}]
    assert document["findings"] == []


def test_a_finding(racetrap, monkeypatch, tmp_path):
    finding = Finding("coverage", 7, "Reader neither read nor refused", b"{}")
    monkeypatch.setattr(fuzz, "run_parallel", lambda *_: [[finding]])
    done = racetrap("fuzz", "coverage", "--budget", 20, "--output", tmp_path)
    assert done.exit_code == 3
    assert "coverage 7: Reader neither read" in done.stdout
    assert [path.read_bytes() for path in (tmp_path / "coverage").iterdir()] == [b"{}"]
