"""`racetrap doctor`."""

import json

from racetrap.commands import doctor


def test_all_there(racetrap):
    result = racetrap("doctor")
    assert (result.exit_code, result.stdout) == (0, "Nothing is missing.\n")


def test_something_missing(racetrap, monkeypatch, tmp_path):
    sentences = ["Command `make` was not found: install [it].", "Another."]
    monkeypatch.setattr(doctor, "missing_tools", lambda: sentences)
    file = tmp_path / "doctor.json"
    result = racetrap("doctor", "--json", file)
    assert result.exit_code == 3
    assert result.stdout.splitlines() == sentences
    assert json.loads(file.read_text()) == {"missing": sentences}
