"""Former names of options, and their replacements."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import click

_FILE = "--output FILE{}, by the end of the file's name"
_SET = "--set {}=VALUE"
_ARGUMENT = "an argument without an option"

#: Former options of any command, with their replacements.
_SUCCESSORS: Mapping[str, str] = MappingProxyType({
    **dict.fromkeys(("-q", "--quiet"), "an option before the command: racetrap --quiet COMMAND"),
    "--jobs": "an option before the command: racetrap --jobs N COMMAND",
    **dict.fromkeys(("--volume", "--inputs", "--runs", "--traces"), "--budget"),
    **dict.fromkeys(("--program", "--workload", "--reader", "--suite"), _ARGUMENT),
    **dict.fromkeys(("--fixpoint", "--original-size", "--monitor", "--cycles"), "a word of --also"),
    **{f"--{end}": _FILE.format(f".{end}") for end in ("html", "sarif", "patch", "trace")},
    "--junit": _FILE.format(".xml"),
    "--waves": _FILE.format(".fst"),
    "--witness": _FILE.format(".replay"),
    "--write-baseline": _FILE.format(".toml"),
    "--github": "--output -.github",
    "--environment": _SET.format("environment"),
    "--checkpoint": _SET.format("checkpoint_interval"),
    "--ideal": _SET.format("unbounded"),
    "--instruction-limit": _SET.format("instruction_limit"),
    "--event-limit": _SET.format("event_limit"),
    "--mode": _SET.format("mode"),
    "--line": _SET.format("line_bytes"),
    "--granule": _SET.format("granule_bytes"),
    **dict.fromkeys(("--prefetch", "--no-prefetch"), _SET.format("prefetch")),
    **dict.fromkeys(("--snooping", "--no-snooping"), _SET.format("uncached_snoops_cache")),
    "--padding": _SET.format("padding"),
    "--alignment": _SET.format("alignment"),
    "--heap-base": _SET.format("base"),
    "--seconds": "--budget Ts, as in 30s",
    "--hold": "--memory write-buffers:P",
    "--expect": "`expected` of a buffer in the launch file",
    "--preset": f"--detector, or {_ARGUMENT}",
    "--system": f"--detector, or {_ARGUMENT}",
    "--board": "--detector PRESET:BOARD",
    "--detector-only": "--oracle none",
    "--asynchronous-reset": "--verilog asynchronous-reset",
    "--all": "--limit all",
    "--kernel": "--launches NAME",
    "--timings": "--schedules",
    "--right-only": "--race-free",
    "--device": "--family FAMILY:DEVICE",
    "--scheduler": "an option before the command: racetrap --jobs ADDRESS COMMAND",
    "--keep": "--output",
    "--to": "the end .txt of the file's name, for the text form",
})  # fmt: skip


#: Key of a command's words in the context's ``meta``.
WORDS = "racetrap.words"


def successor(option: str) -> str | None:
    """Replacement of a former option; ``None`` if there was no such option."""
    return _SUCCESSORS.get(option)


def no_such_option(error: click.NoSuchOption) -> str:
    """The sentence for an option that a command does not have."""
    instead = successor(error.option_name)
    if instead is None or instead in (error.possibilities or ()):
        return _whole(error).format_message()
    if error.ctx is not None:
        instead = instead.replace("COMMAND", error.ctx.command_path.partition(" ")[2])
    return f"No such option '{error.option_name}', which is now {instead}."


def _whole(error: click.NoSuchOption) -> click.NoSuchOption:
    """The same error of the whole word, of which click names one letter if one dash begins it."""
    context = error.ctx
    if context is None or error.option_name.startswith("--"):
        return error
    letter = error.option_name[1:]
    words = [word.partition("=")[0] for word in context.meta.get(WORDS, ()) if word[:2] != "--"]
    found = [word for word in words if word[:1] == "-" and letter in word]
    if not found:
        return error
    names = [name for each in context.command.params for name in each.opts]
    for parameter in context.command.params:
        names += [each.value for each in getattr(parameter, "completions", lambda _: ())("-")]
    return click.NoSuchOption(found[0], possibilities=names, ctx=context)
