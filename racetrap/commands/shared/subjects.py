"""Subjects of a command: one declaration of the options of each, from which help pages and refusals
are derived."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import click
from click.shell_completion import CompletionItem

#: An option or an argument, and its line of help.
_Section = tuple[str, list[click.Parameter]]


class Subject(NamedTuple):
    """Kind of input of a command.

    Parameters
    ----------
    name : str
        Name in a sentence, such as "a trace of threads".
    options : tuple of str
        Names of the parameters that apply to this subject but not to every one; for ``output`` also
        the suffixes of such forms, as ``.html``, and for ``compiler`` ``-arch``.
    page : str
        Page of help, ``--help-PAGE``, that lists them; without one ``--help`` does.
    settings : tuple of (str, str)
        Settings of ``--set`` besides parameters of a preset, and their meaning.
    """

    name: str
    options: tuple[str, ...]
    page: str = ""
    settings: tuple[tuple[str, str], ...] = ()


class SubjectCommand(click.Command):
    """Command with subjects.

    Parameters
    ----------
    subjects : sequence of Subject
        Options listed in none apply to every subject.
    """

    def __init__(self, *arguments: Any, subjects: Sequence[Subject], **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.subjects = subjects
        named = {name for each in subjects for name in each.options if name[0] not in ".-"}
        if unknown := named - {each.name for each in self.params}:
            raise TypeError(f"Subjects must name parameters, not {min(unknown)}")

    def suitable(self, name: str | None) -> list[str]:
        """Subjects to which a parameter, or a form, applies; none if it applies to all."""
        return [each.name for each in self.subjects if name in each.options]

    @property
    def pages(self) -> list[str]:
        """Pages of help besides ``--help``."""
        return list(dict.fromkeys(each.page for each in self.subjects if each.page))

    def sections(self, page: str = "") -> list[_Section]:
        """Headings and parameters of a page of help; the first page has those of every subject, and
        those on several other pages."""
        pages = {each.name: each.page for each in self.subjects}
        found: dict[str, list[click.Parameter]] = {}
        for parameter in self.params:
            names = self.suitable(parameter.name)
            own = {pages[name] for name in names}
            if page in own:
                heading = f"Options for {one_of([name for name in names if pages[name] == page])}"
            elif not page and len(own) != 1:
                heading = "Options for several subjects" if names else "Options"
            else:
                continue
            found.setdefault(heading, []).append(parameter)
        return list(found.items())

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*super().get_params(ctx), *map(_page_option, self.pages)]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        own = {parameter.name for parameter in self.params}
        further = [each for each in self.get_params(ctx) if each.name not in own]
        sections = dict(self.sections())
        sections["Options"] = [*sections.get("Options", []), *further]
        _write(ctx, formatter, sections)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        found = super().shell_complete(ctx, incomplete)
        if incomplete.startswith("-"):
            for each in self.params:
                found += getattr(each, "completions", lambda begun: [])(incomplete)
        return found

    def page(self, ctx: click.Context, page: str) -> str:
        """Text of a page of help."""
        formatter = ctx.make_formatter()
        self.format_usage(ctx, formatter)
        _write(ctx, formatter, dict(self.sections(page)))
        settings = [line for each in self.subjects if each.page == page for line in each.settings]
        if settings:
            with formatter.section("Settings of --set, besides parameters of the detector"):
                formatter.write_dl(list(dict.fromkeys(settings)))
        formatter.write_paragraph()
        formatter.write_text(f"Options for every subject: {ctx.command_path} --help")
        return formatter.getvalue().rstrip("\n")


def _page_option(page: str) -> click.Option:
    def show(ctx: click.Context, parameter: click.Parameter, is_on: bool) -> None:
        if is_on and not ctx.resilient_parsing:
            click.echo(cast(SubjectCommand, ctx.command).page(ctx, page))
            ctx.exit()

    return click.Option(
        [f"--help-{page}"], is_flag=True, is_eager=True, expose_value=False, callback=show,
        help=f"Show the options for {_PAGES[page]} and exit.",
    )  # fmt: skip


def one_of(names: Sequence[str]) -> str:
    """The names in a sentence."""
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


#: Topic of each page of help.
_PAGES = {
    "report": "reports of findings",
    "gpu": "kernels and traces of a GPU",
    "threads": "recordings of threads",
    "accelerator": "recordings of a driver and its accelerators",
}


def _write(
    ctx: click.Context, formatter: click.HelpFormatter, sections: dict[str, list[click.Parameter]]
) -> None:
    for heading, parameters in sections.items():
        records = [each.get_help_record(ctx) for each in parameters]
        if lines := [record for record in records if record and record[1]]:
            with formatter.section(heading):
                formatter.write_dl(lines)


def require_suitable(*given: str) -> None:
    """Refuse an option without effect: one of other subjects.

    Parameters
    ----------
    given : str
        Names of the subjects of this call.

    Raises
    ------
    ValueError
        If an option on the command line applies to none of them.
    """
    context = click.get_current_context()
    command = cast(SubjectCommand, context.command)
    for parameter in command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is not click.core.ParameterSource.COMMANDLINE:
            continue
        named = {parameter.name: f"Option {parameter.opts[-1]}"}
        if parameter.name == "output" and isinstance(context.params["output"], dict):
            named |= {end: f"Output {end}" for end in context.params["output"]}
        if parameter.name == "compiler":
            given_options = context.params["compiler"].named
            named = {name: f"Option {option}" for name, option in given_options.items()}
        for name, what in named.items():
            suitable = command.suitable(name)
            if suitable and not set(suitable) & set(given):
                raise ValueError(
                    f"{what} is for {one_of(suitable)}, not for {given[0]}: leave it out"
                )
