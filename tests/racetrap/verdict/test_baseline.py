"""Baselines: known races are two lines by file and text, with a reason."""

import pytest

from racetrap.sim.toml_file import TomlError
from racetrap.verdict import source_text
from racetrap.verdict.baseline import baseline_text, read_baseline
from racetrap.verdict.line_pairs import LinePairs
from tests.support.oracle.findings import line_pair, line_race

_KNOWN = """
[[race]]
earlier = { file = "a.cu", text = "read(x);" }
later = { file = "a.cu", text = "write(x);" }
reason = "values are the same"
"""


@pytest.fixture
def source(tmp_path, monkeypatch):
    """Writes a.cu in the current folder."""
    monkeypatch.chdir(tmp_path)

    def write(text):
        source_text._lines.cache_clear()
        (tmp_path / "a.cu").write_text(text)
        return str(tmp_path / "a.cu")

    return write


@pytest.fixture
def baseline(tmp_path):
    (tmp_path / "known.toml").write_text(_KNOWN)
    return read_baseline(tmp_path / "known.toml")


def test_a_known_race_stays_known_when_lines_move(source, baseline):
    for text, lines in (("read(x);\nwrite(x);\n", (1, 2)), ("\n\n  write(x);\nread(x);", (3, 4))):
        path = source(text)
        pair = line_pair(*(f"{path}:{line}" for line in lines))
        assert baseline.divide([pair]) == ([], [pair], [])


@pytest.mark.parametrize("text", ["read(y);\nwrite(x);\n", "write(x);\nwrite(x);\n"])
def test_another_line_is_another_race(source, baseline, text):
    path = source(text)
    pair = line_pair(f"{path}:1", f"{path}:2")
    assert baseline.divide([pair]) == ([pair], [], baseline.race)


def test_without_a_baseline_all_is_new(source):
    pairs = LinePairs()
    pairs.add([line_race(f"{source('x;')}:1", "pc 0x40")])
    assert pairs.divide(None) == (pairs.by_instances, [], [])


def test_what_is_written_is_known(source, tmp_path):
    path = source('read("\\\\ä\\t");\nwrite(x);\n')
    pairs = [line_pair(f"{path}:1", f"{path}:2"), line_pair("pc 0x40", f"{path}:2")]
    (tmp_path / "new.toml").write_text(baseline_text(pairs), encoding="utf-8")
    assert read_baseline(tmp_path / "new.toml").divide(pairs) == ([], pairs, [])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("same", ""), "race[0].reason must be words"),
        (('reason = "values are the same"', ""), "reason"),
        (("later", "lather"), "lather"),
        (('"a.cu"', "3"), "race[0].earlier.file"),
    ],
)
def test_what_breaks_a_rule(tmp_path, change, sentence):
    path = tmp_path / "known.toml"
    text = _KNOWN.replace("values are the same", " ") if change[0] == "same" else _KNOWN
    path.write_text(text.replace(*change))
    with pytest.raises(TomlError) as caught:
        read_baseline(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert sentence in str(caught.value)
