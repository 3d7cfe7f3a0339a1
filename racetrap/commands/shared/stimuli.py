"""Stimuli of commands: which detector and which options each is for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click
from click.core import ParameterSource

from racetrap.generators.system import Params
from racetrap.generators.systems import system_of
from racetrap.golden_model.trace import AnyTrace, NoncoherentTrace, ThreadTrace

__all__ = [
    "ACCELERATOR_TRACE",
    "GPU_TRACE",
    "THREAD_TRACE",
    "check_options",
    "check_system",
    "kind_of",
]

ACCELERATOR_TRACE = "a trace of a CPU and its accelerators"
GPU_TRACE = "a trace of a GPU"
THREAD_TRACE = "a trace of threads"


def kind_of(trace: AnyTrace) -> str:
    """What a trace is for ``check_options``."""
    if isinstance(trace, NoncoherentTrace):
        return ACCELERATOR_TRACE
    return THREAD_TRACE if isinstance(trace, ThreadTrace) else GPU_TRACE


def check_system(params: Params, system: str, stimulus: str) -> None:
    """Raise ``ValueError`` if parameters are not of the detector that a stimulus is for."""
    if (own := system_of(params).name) != system:
        raise ValueError(f"Preset must be one of {system} for {stimulus}, not one of {own}")


def check_options(stimuli: Mapping[str, Sequence[str]], given: str) -> None:
    """Refuse an option that would do nothing: one for another stimulus.

    Parameters
    ----------
    stimuli : mapping of str to sequence of str
        Parameters of the command that are not for every stimulus, with those they are for.
    given : str
        The stimulus of this call.

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
