"""Tables of the programs of weak memory, made from their list."""

from __future__ import annotations

from docs.site.markdown import table
from racetrap.sim.gpu.suites.weak_memory.launches import LAUNCHES
from racetrap.sim.gpu.suites.weak_memory.programs import PROGRAMS, Program, Variant


def _row(variant: Variant) -> list[str]:
    reason = variant.reason + (f" Oracle: {variant.oracle}" if variant.oracle else "")
    return [
        f"`{variant.name}`",
        variant.table,
        variant.what_lacks,
        "race" if variant.is_racy else "no race",
        reason,
    ]


def _section(program: Program) -> str:
    launch = LAUNCHES[program.name]
    paper = f", the paper's {program.paper}" if program.paper else ""
    columns = ("variant", "Table IV", "lacks", "oracle", "why")
    return (
        f"## {program.title}\n\n`{program.name}`{paper}; {launch.blocks} blocks of "
        f"{launch.threads} threads.\n\n{table(columns, map(_row, program.variants))}"
    )


def programs_tables() -> str:
    """A section for each program, as Markdown."""
    return "\n".join(map(_section, PROGRAMS.values()))
