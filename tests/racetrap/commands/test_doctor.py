"""`racetrap doctor`."""

import json

import pytest

from racetrap.commands import doctor


@pytest.fixture(autouse=True)
def extras(monkeypatch):
    """Sentences on missing extras; none at first."""
    sentences = []
    monkeypatch.setattr(doctor, "missing_extras", lambda: sentences)
    return sentences


def test_missing_extra_is_named(racetrap, extras, tmp_path):
    extras.append("Extra `fpga` is not installed (pyserial): `make setup EXTRAS=fpga`.")
    result = racetrap("doctor", "--json", tmp_path / "d.json")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        extras[0], "Nothing is missing for checks, generation and simulation.",
    ]  # fmt: skip
    document = json.loads((tmp_path / "d.json").read_text())
    assert document == {"missing": [], "missing_extras": extras}


def test_extra_that_is_not_there_is_not_looked_into(racetrap, monkeypatch, extras):
    extras.append("Extra `hardware` is not installed (amaranth): `make setup EXTRAS=hardware`.")
    monkeypatch.setattr(doctor, "has_hardware", lambda: False)
    monkeypatch.setattr(doctor, "missing_tools", lambda *parts: list(parts))
    result = racetrap("doctor")
    assert (result.exit_code, result.stdout.splitlines()[1:]) == (
        0, ["Nothing is missing for checks."],
    )  # fmt: skip


def test_all_there(racetrap):
    result = racetrap("doctor")
    assert (result.exit_code, result.stdout) == (0, "Nothing is missing.\n")


def test_something_missing(racetrap, monkeypatch, tmp_path):
    sentences = ["Command `make` was not found: install [it].", "Another."]
    monkeypatch.setattr(doctor, "missing_tools", lambda *_: sentences)
    file = tmp_path / "doctor.json"
    result = racetrap("doctor", "--json", file)
    assert result.exit_code == 3
    assert result.stdout.splitlines() == sentences
    assert json.loads(file.read_text()) == {"missing": sentences, "missing_extras": []}
