"""What the pages of both evaluations share: the frame, and how a page is made."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

__all__ = ["render"]


def render(template: Path, values: Mapping[str, object]) -> str:
    """A self-contained HTML page.

    Parameters
    ----------
    template : Path
        Template, which extends ``base.html``.
    values : mapping of str to object
        What it uses; all of it is escaped unless it says otherwise.
    """
    environment = Environment(
        loader=FileSystemLoader([Path(__file__).parent, template.parent]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(template.name).render(values)
