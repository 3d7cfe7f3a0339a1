"""Values that the JSON of several commands has."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias, Union

from typing_extensions import TypedDict

from racetrap.generators.systems import SYSTEMS

#: Every parameter of a detector.
Parameters: TypeAlias = Union[*(system.params for system in SYSTEMS)]  # type: ignore[valid-type]
#: What a table has in a row and column; null where there is nothing to say.
Cell: TypeAlias = str | int | float | None
#: A table: its rows, each by column; null where there is nothing to say.
Rows: TypeAlias = list[dict[str, Cell]]
Tables: TypeAlias = dict[str, Rows]
Verdict: TypeAlias = Literal["race", "none"]


def document(form: Any, *sources: object, **given: Any) -> Any:
    """An object of a type of JSON: values that are given, others from attributes of the same names,
    each of the first source that has it; a set becomes a sorted list."""

    def value(name: str) -> Any:
        found = next(getattr(source, name) for source in sources if hasattr(source, name))
        return sorted(found) if isinstance(found, (set, frozenset)) else found

    return {name: given[name] if name in given else value(name) for name in form.__annotations__}


class StackFrame(TypedDict):
    """A function of a call stack."""

    function: Annotated[str, "its name"]
    called_at: Annotated[str | None, "place of the call in its caller; null if unknown"]


class Configuration(TypedDict):
    """A preset with its settings."""

    preset: Annotated[str, "preset, as given or by default"]
    parameters: Annotated[Parameters, "every parameter of the detector, after `--set`"]


class Call(Configuration):
    """A preset with its settings, and the seed of a run."""

    seed: Annotated[int, "`--seed`"]


class LongWorkDocument(TypedDict):
    """What a command that makes rows one by one says of them."""

    complete: Annotated[bool, "false if the command stopped before all rows were complete"]
    missing: Annotated[list[str], "names of the missing rows"]
    kept: Annotated[int, "number of rows kept from an earlier call"]
