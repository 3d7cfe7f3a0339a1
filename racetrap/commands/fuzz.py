"""`racetrap fuzz`: file readers on mutated files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from racetrap.commands.shared import options
from racetrap.commands.shared.terminal import (
    ExitStatus,
    fail,
    input_errors,
    report_console,
    write_json,
)
from racetrap.commands.shared.workers import run_parallel
from racetrap.evaluation.fuzzing.fuzz import MEMORY_BYTES, SECONDS, batches, keep, run_batch
from racetrap.evaluation.fuzzing.readers import READERS
from racetrap.presenters.tables import print_table


@click.command("fuzz")
@click.argument("readers", metavar="[READER]...", nargs=-1, type=options.Choice(list(READERS)))
@options.budget("Number of files, for all readers together.", 2000)
@options.output("DIR", "Write each file that crashes a reader to DIR/READER.")
@options.seed
@options.result
def command(
    readers: tuple[str, ...], budget: int, output: Path | None, seed: int,
    json_file: str | None,
) -> None:  # fmt: skip
    """Fuzz the file readers: each mutated file must be accepted, or refused with a clear error.

    Without READER, all are tested.  Each file may take up to 10 s and 1 GiB.  Exit status 3 if a
    reader crashes or exceeds these limits.
    """
    names = list(dict.fromkeys(readers)) or list(READERS)
    work = batches(names, budget, seed)
    results = run_parallel(run_batch, work, options.worker_count(), "Reading")
    findings = [finding for result in results for finding in result]
    console = report_console()
    read, amiss = Counter[str](), Counter(finding.reader for finding in findings)
    for batch in work:
        read[batch.reader] += batch.last - batch.first
    for finding in findings:
        console.print(f"{finding.reader} {finding.number}: {finding.problem}", markup=False)
        if output is not None:
            with input_errors():
                console.print(f"  kept as {keep(finding, output)}", markup=False)
    rows = [(name, read[name], amiss[name]) for name in names]
    rows.append(("total", sum(read.values()), len(findings)))
    print_table(console, f"Files of seed {seed}", ("reader", "read", "failures"), rows)
    write_json(json_file, {
        "seed": seed, "seconds": SECONDS, "memory_bytes": MEMORY_BYTES,
        "readers": [
            {"reader": name, "inputs": read[name], "findings": amiss[name]} for name in names
        ],
        "findings": [
            {"reader": finding.reader, "number": finding.number, "problem": finding.problem}
            for finding in findings
        ],
    })  # fmt: skip
    if findings:
        fail(f"{findings[0].reader}: {findings[0].problem}", ExitStatus.FAILED)
