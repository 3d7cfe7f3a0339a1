"""Arguments of calls that have no effect: those for other subjects than are given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from inspect import signature
from types import MappingProxyType
from typing import Any

from racetrap.commands.shared.subjects import SubjectCommand, one_of

#: Parameters of commands by the arguments of calls that have other names.
_PARAMETERS = MappingProxyType({
    "launch": "launch_file", "rule": "oracle", "runs": "budget", "seconds": "budget",
    "on_gpu": "lockstep", "baseline": "baseline_file", "cures": "no_cures", "replay": "replay_file",
})  # fmt: skip


def refusal(call: Callable[..., Any], values: Mapping[str, Any]) -> Callable[..., None]:
    """What refuses arguments of a call that are for other subjects, as its command does.

    Parameters
    ----------
    call : callable
        The call.
    values : mapping of str to object
        Its arguments by name; those with their defaults count as not given.
    """
    given = dict(_given(call, values))

    def suits(*names: str) -> None:
        command: SubjectCommand = import_module(f"racetrap.commands.{call.__name__}").command
        for argument, parameter in given.items():
            suitable = command.suitable(parameter)
            if suitable and not set(suitable) & set(names):
                raise ValueError(
                    f"Argument {argument} is for {one_of(suitable)}, not for {names[0]}: "
                    "leave it out"
                )

    return suits


def _given(call: Callable[..., Any], values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Arguments that are given, with the parameters of the command."""
    for name, parameter in signature(call).parameters.items():
        value = values[name]
        if name == "compiler" and value is not None:
            for parameter_name, option in value.named.items():
                yield f"{option} of compiler", parameter_name
        elif value != parameter.default and (value or parameter.default):
            yield name, _PARAMETERS.get(name, name)
            for end in value if name == "output" and isinstance(value, Mapping) else ():
                yield f"output[{end!r}]", end
