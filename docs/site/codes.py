"""Table of the codes of findings, as `racetrap explain` has them."""

from __future__ import annotations

from docs.site.markdown import table
from racetrap.verdict.codes import codes


def codes_table() -> str:
    """A line for each code: what is wrong, the rule, and the cure."""
    rows = (
        (f"`{each.code}`", each.level, each.title, each.section, " ".join(each.cure.split()))
        for each in codes().values()
    )
    return table(("code", "level", "what is wrong", "rule", "cure"), rows)
