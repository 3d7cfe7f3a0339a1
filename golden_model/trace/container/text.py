"""Text form of any trace: numbered lines, the first line, and the lines of the header."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from racetrap.golden_model.trace.container.rules import Rule, TraceError

#: First line of every text trace: its type, and the version of the form.
FIRST_LINE = "racetrap-trace 2"
#: Pattern of a number.
NUMBER = r"(?:0x[0-9a-fA-F]{1,40}|[0-9]{1,40})"
_NUMBER_RE = re.compile(NUMBER)
_HEADER_WORDS = (
    "system", "geometry", "region", "threads", "memory", "layout", "source", "seed", "events",
    "independent_threads",
)  # fmt: skip


class LineError(Exception):
    """Error in the line being read."""

    def __init__(self, rule: Rule, sentence: str):
        self.rule = rule
        self.sentence = sentence


class TextFile(NamedTuple):
    """A text trace whose header has been read.

    Parameters
    ----------
    place : str
        The file, for error messages.
    header : dict
        The header as plain data; its fields are not checked yet.
    lines : list of (int, str)
        Number and text of every line after the header that is neither blank nor a comment.
    """

    place: str
    header: dict[str, Any]
    lines: list[tuple[int, str]]

    def place_of_event(self, row: int) -> str:
        """Place of an event, from its number; of the whole trace, from -1."""
        return f"{self.place}, line {self.lines[row][0]}" if row >= 0 else self.place


def read_number(text: str) -> int:
    """Number of a text form, or ``LineError``."""
    if not _NUMBER_RE.fullmatch(text):
        raise LineError(Rule.TEXT, f"Number must be decimal or 0x and hexadecimal, not {text!r}")
    return int(text, 16 if text.startswith("0x") else 10)


def assignments(words: list[str]) -> dict[str, int]:
    """Numbers of words ``name=number``, or ``LineError``."""
    values: dict[str, int] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise LineError(Rule.TEXT, f"Field must be name=number, not {word!r}")
        if name in values:
            raise LineError(Rule.TEXT, f"Field {name} is given twice")
        values[name] = read_number(value)
    return values


def quoted(value: Any) -> str:
    """A string, or a list with strings, in the text form."""
    return json.dumps(value, ensure_ascii=False)


def _read_variable(text: str) -> list[Any]:
    size, _, name = text.partition(" ")
    return [read_number(size), json.loads(name)]


class NumberedField(NamedTuple):
    """Field of a header with values by number: a line of text for each.

    Parameters
    ----------
    name : str
        The field.
    what : str
        Meaning of its numbers.
    write, read : callable
        Conversion of a value to text, and of text to the value in JSON.
    form : str
        Format of the number in text.
    most : int
        Highest number.
    """

    name: str
    what: str
    write: Callable[[Any], str]
    read: Callable[[str], Any]
    form: str = "#x"
    most: int = (1 << 32) - 1


_TEXT, _NUMBER = (quoted, json.loads), (str, read_number)
#: Numbered fields, by the word at the start of their lines.
NUMBERED = {
    "location": NumberedField("locations", "PC of a location", *_TEXT),
    "variable": NumberedField(
        "variables", "Address of a variable",
        lambda variable: f"{variable[0]} {quoted(variable[1])}", _read_variable,
        most=(1 << 64) - 1,
    ),
    "column": NumberedField("columns", "PC of a column", *_NUMBER),
    "frame": NumberedField("frames", "Number of a frame", *_TEXT, form="d"),
    "stack": NumberedField("stacks", "PC of a stack", *_NUMBER),
    "object": NumberedField("objects", "Number of an object", *_TEXT, form="d"),
    "fault": NumberedField("faults", "Number of a fault", *_TEXT, form="d"),
    "outside": NumberedField("outside", "PC of a load from outside memory", *_TEXT),
    "result": NumberedField("results", "Number of a result", *_TEXT, form="d"),
}  # fmt: skip
#: Beginnings of lines with a quoted string, in which # is no comment.
_QUOTING = (
    "source ", *(f"{word} " for word, field in NUMBERED.items() if field.read is not read_number)
)  # fmt: skip


def _header_value(word: str, rest: str) -> Any:
    """Value of one header line; for a numbered field a pair of number and value."""
    if field := NUMBERED.get(word):
        number, _, text = rest.partition(" ")
        return str(read_number(number)), field.read(text)
    if word in ("system", "layout"):
        return rest
    if word in ("seed", "threads", "events", "independent_threads"):
        return read_number(rest)
    if word == "source":
        return json.loads(rest)
    return assignments(rest.split())


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Numbered lines without comments and blanks."""
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.strip()
        if not line.startswith(_QUOTING):
            line = line.partition("#")[0].rstrip()
        if line:
            yield number, line


def _read_header(lines: list[tuple[int, str]], place: str) -> tuple[dict[str, Any], int]:
    """Plain data of the header, and the number of its lines."""
    values: dict[str, Any] = {"seed": None, "locations": {}}
    seen: set[str] = set()
    used = 1
    for number, line in lines[1:]:
        word, _, rest = line.partition(" ")
        if word not in (*_HEADER_WORDS, *NUMBERED):
            break
        try:
            value = _header_value(word, rest.strip())
            name = f"{word} {value[0]}" if word in NUMBERED else word
            if name in seen:
                raise LineError(Rule.HEADER, f"Header has {name} twice")
        except (LineError, ValueError, RecursionError) as error:
            sentence = (
                error.sentence
                if isinstance(error, LineError)
                else f"Text must be a string in double quotes, not {rest[:80]}"
            )
            raise TraceError(f"{place}, line {number}", Rule.HEADER, sentence) from None
        seen.add(name)
        if word in NUMBERED:
            values.setdefault(NUMBERED[word].name, {})[value[0]] = value[1]
        else:
            values[word] = value
        used += 1
    return values, used


def _check_first_line(lines: list[tuple[int, str]], place: str) -> None:
    number, line = lines[0] if lines else (1, "")
    name, _, version = line.partition(" ")
    expected_name, _, expected_version = FIRST_LINE.partition(" ")
    if name != expected_name:
        raise TraceError(
            f"{place}, line {number}", Rule.MAGIC,
            f"Trace must begin with the line {FIRST_LINE!r}, not {line[:40]!r}",
        )  # fmt: skip
    if version.strip() != expected_version:
        raise TraceError(
            f"{place}, line {number}", Rule.VERSION,
            f"Version must be {expected_version}, not {version[:40]!r}",
        )  # fmt: skip


def open_text(path: Path) -> TextFile:
    """Read a text trace up to the end of its header.

    Raises
    ------
    OSError
        If the file cannot be read.
    TraceError
        If its beginning is not valid.
    """
    place = str(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise TraceError(
            place, Rule.MAGIC, "File is neither a binary trace nor UTF-8 text"
        ) from None
    return text_file(text, place)


def text_file(text: str, place: str) -> TextFile:
    """The same for text that has been read from ``place``, or ``TraceError``."""
    lines = list(_lines(text))
    _check_first_line(lines, place)
    header, used = _read_header(lines, place)
    events = lines[used:]
    count = header.pop("events", None)
    # Hand-written files need no count; with a count, truncation is detected.
    if count is not None and (count != len(events) or not text.endswith("\n")):
        raise TraceError(
            place, Rule.FILE_LENGTH,
            f"File is cut short or was added to: it has {len(events)} events, not the {count} that "
            "its header says, each with the end of its line",
        )  # fmt: skip
    return TextFile(place, header, events)
