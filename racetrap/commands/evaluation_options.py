"""What the evaluations of both detectors share on the command line."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from racetrap.generators.presets import Preset
from racetrap.generators.system import Params
from racetrap.presenters.output import ExitStatus, fail, input_errors
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.systems import build_fast
from racetrap.sim.cosim.verilator.cocotb_build import BuildError
from racetrap.sim.cosim.verilator.tools import missing_tools

__all__ = ["check_writable", "command_line", "hardware_of", "html_option", "workers_option"]

_Params = TypeVar("_Params", bound=Params)


def workers_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: the option ``--workers``."""
    return click.option(
        "--workers", default=2, show_default=True, type=click.IntRange(1, 64), help="Processes."
    )(function)


def html_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: the option ``--html FILE``, given to the command as ``html_file``."""
    return click.option(
        "--html", "html_file", metavar="FILE", help="Write a page with tables and plots."
    )(function)


def check_writable(html_file: str | None) -> None:
    """Leave now, not after a long run, if the page cannot be written."""
    if html_file is not None:
        with input_errors():
            Path(html_file).open("a").close()


def hardware_of(preset: Preset[_Params]) -> FastModel[_Params]:
    """The hardware of a preset, ready to run; leaves if a tool is missing or fails."""
    if missing := missing_tools():
        fail(missing[0], ExitStatus.FAILED)
    try:
        return build_fast(preset.name, preset.params)
    except BuildError as error:
        fail(error, ExitStatus.FAILED)


def command_line() -> str:
    """The command that is running, to run it again."""
    return shlex.join(["racetrap", *sys.argv[1:]])
