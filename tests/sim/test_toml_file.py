"""Schemas of TOML files: every error names file, key, rule and value."""

from typing import Annotated

import pytest
from pydantic import AfterValidator, Field, model_validator

from racetrap.sim.toml_file import Table, TomlError, TomlFile, one_of, read_toml, rule_error


def _even(value: int) -> int:
    if value % 2:
        raise ValueError("an even number")
    return value


class _Entry(Table):
    low: int
    high: Annotated[int, AfterValidator(_even)] = 8

    @model_validator(mode="after")
    def _check_order(self):
        if self.low > self.high:
            raise rule_error("low", f"at most {self.high}", self.low)
        return self


class _File(TomlFile):
    name: Annotated[str, one_of(("red", "blue"))]
    size: Annotated[int, Field(ge=1, le=9)] = 3
    entries: list[_Entry] = Field(default_factory=list)
    inner: _Entry | None = None


@pytest.fixture
def read(tmp_path):
    def _read(text):
        path = tmp_path / "file.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_toml(path, _File)

    return _read


def test_values_and_defaults(read):
    found = read('name = "red"\n[[entries]]\nlow = 2\n[[entries]]\nlow = 4\nhigh = 6\n')
    assert (found.name, found.size, found.inner) == ("red", 3, None)
    assert found.entries == [_Entry(low=2), _Entry(low=4, high=6)]


@pytest.mark.parametrize(
    ("text", "key", "rule", "value"),
    [
        ("", "name", "given", "missing"),
        ('name = "green"', "name", "one of red, blue", "'green'"),
        ("name = 1", "name", "string", "1"),
        ("size = 0\nname = 'red'", "size", "1", "0"),
        ("size = 10\nname = 'red'", "size", "9", "10"),
        ("size = true\nname = 'red'", "size", "integer", "True"),
        ("size = 3.0\nname = 'red'", "size", "integer", "3.0"),
        ("hue = 1\nname = 'red'", "Key", "one of name, size, entries, inner", "hue"),
        ("inner = 1\nname = 'red'", "inner", "a table", "1"),
        ("inner = {mid = 1}\nname = 'red'", "Key of inner", "one of low, high", "mid"),
        ("entries = [{low = 2}, 5]\nname = 'red'", "entries[1]", "a table", "5"),
        ("entries = [{low = 2}, {}]\nname = 'red'", "entries[1].low", "given", "missing"),
        ("entries = [{low = 2, high = 3}]\nname = 'red'", "entries[0].high", "even", "3"),
        ("entries = [{low = 9}]\nname = 'red'", "entries[0].low", "at most 8", "9"),
    ],
)
def test_broken_rules(read, tmp_path, text, key, rule, value):
    with pytest.raises(TomlError) as caught:
        read(text)
    sentence = str(caught.value)
    assert sentence.startswith(f"{tmp_path / 'file.toml'}: {key} must be ")
    assert rule in sentence.rpartition(", not ")[0]
    assert sentence.endswith(f", not {value}")


@pytest.mark.parametrize("text", ["name = ", b"\xff", "name = 'red'\nname = 'red'"])
def test_not_toml(read, text):
    with pytest.raises(TomlError, match=r"file\.toml: not TOML"):
        read(text)


def test_later_errors_name_the_file(read, tmp_path):
    error = read("name = 'red'").error("size", "small", 3)
    assert str(error) == f"{tmp_path / 'file.toml'}: size must be small, not 3"
