"""Options that mean something for some stimulus only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click
from click.core import ParameterSource

from racetrap.golden_model.trace import ThreadTrace, Trace

__all__ = ["GPU_TRACE", "THREAD_TRACE", "check_options", "kind_of"]

GPU_TRACE = "a trace of a GPU"
THREAD_TRACE = "a trace of threads"


def kind_of(trace: Trace | ThreadTrace) -> str:
    """What a trace is for ``check_options``."""
    return THREAD_TRACE if isinstance(trace, ThreadTrace) else GPU_TRACE


def check_options(stimuli: Mapping[str, Sequence[str]], given: str) -> None:
    """Refuse what would do nothing: an option of the running command for another stimulus.

    Parameters
    ----------
    stimuli : mapping of str to sequence of str
        Parameters of the command that are not for every stimulus, with those they are for.
    given : str
        The stimulus that the command has got.

    Raises
    ------
    ValueError
        If one of them stands on the command line and is not for that stimulus.
    """
    context = click.get_current_context()
    for parameter in context.command.params:
        suitable = stimuli.get(parameter.name or "", [given])
        source = context.get_parameter_source(parameter.name or "")
        if source is ParameterSource.COMMANDLINE and given not in suitable:
            raise ValueError(
                f"Option {parameter.opts[0]} must come with {' or '.join(suitable)}, "
                f"not with {given}"
            )
