"""Forms of a command's results, selected by the suffixes of file names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import click

from racetrap.commands.shared.output_files import OutputFile


class Form(NamedTuple):
    """Form of a result.

    Parameters
    ----------
    end : str
        Suffix of the file.
    what : str
        Contents of the file.
    to_standard_output : bool
        Whether the name ``-`` before the suffix means standard output.
    companions : tuple of str
        Suffixes of further files written beside it.
    """

    end: str
    what: str
    to_standard_output: bool = True
    companions: tuple[str, ...] = ()


class _FormFile(OutputFile):
    """Name of a file, as its form's suffix and the file."""

    def __init__(self, forms: Sequence[Form]) -> None:
        super().__init__()
        self._forms = forms

    def files(self, values: Sequence[str], others: Mapping[str, Any]) -> list[str]:
        found = []
        for value in values:
            form = self._form(value)
            file = value if form is None else _file(form, value)
            found += [file, *(f"{file}{end}" for end in (form.companions if form else ()))]
        return found

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        form = self._form(value)
        if form is None:
            self.fail(f"Name of the file must end in {_ends(self._forms)}, not {value}", param, ctx)
        file = _file(form, value)
        if file == "-" and not form.to_standard_output:
            self.fail(f"File must have a name, not {value}", param, ctx)
        if file != "-":
            super().convert(file, param, ctx)
        return form.end, file

    def _form(self, value: str) -> Form | None:
        return next((form for form in self._forms if value.endswith(form.end)), None)


def _file(form: Form, value: str) -> str:
    return "-" if value == f"-{form.end}" else value


def _ends(forms: Sequence[Form]) -> str:
    return ", ".join(f"{form.end} ({form.what})" for form in forms)


def form_files(*forms: Form) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Files of a result, as ``output``: a dictionary by the suffixes of their forms."""
    listed = "; ".join(f"{form.end} for {form.what}" for form in forms)
    standard = next((form for form in forms if form.to_standard_output), None)
    also = f"  -{standard.end} writes to standard output." if standard else ""
    return click.option(
        "-o", "--output", "output", metavar="FILE", multiple=True, type=_FormFile(forms),
        callback=_by_end,
        help=f"Also write FILE, whose extension selects the form: {listed}.  May be repeated."
        f"{also}",
    )  # fmt: skip


def _by_end(
    context: click.Context, parameter: click.Parameter, files: Sequence[tuple[str, str]]
) -> dict[str, str]:
    found: dict[str, str] = {}
    for end, file in files:
        if end in found:
            raise click.BadParameter(
                f"One file {end} can be written, not both {found[end]} and {file}",
                context, parameter,
            )  # fmt: skip
        found[end] = file
    return found


#: A page of tables and plots.
PAGE = Form(".html", "a page with tables and plots")
