"""Summary of a trace file: text and JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from rich.console import Console

from racetrap.golden_model.trace import AnyTrace, is_binary
from racetrap.presenters.tables import print_table


def trace_summary(trace_file: str, trace: AnyTrace) -> dict[str, Any]:
    """Plain data about a trace that has been read from ``trace_file``, or written to it."""
    addresses = trace.addresses
    counts = np.bincount(trace.events["kind"], minlength=len(trace.schema.kinds))
    return {
        "trace": trace_file,
        "form": "binary" if is_binary(trace_file) else "text",
        "header": asdict(trace.header),
        "events": len(trace),
        **trace.totals,
        trace.accesses[1]: len(addresses),
        "kinds": {kind.name.lower(): int(counts[kind]) for kind in trace.schema.kinds},
        "lowest_address": int(addresses.min()) if len(addresses) else None,
        "highest_address": int(addresses.max()) if len(addresses) else None,
    }


def _header_lines(header: dict[str, Any]) -> list[str]:
    """What only one of the systems has in its header."""
    if "threads" in header:
        return [f"Threads:  {header['threads']}"]
    if "memory" in header:
        memory = header["memory"]
        return [
            f"Memory:   lines of {memory['line_bytes']} bytes, {write_words(memory)}; "
            f"engines: {memory['engines']}; prefetching: "
            f"{_answer(memory['prefetch'])}; uncached accesses snoop: "
            f"{_answer(memory['uncached_snoops_cache'])}",
            f"Layout:   {header['layout']}",
        ]
    geometry, region = header["geometry"], header["region"]
    return [
        f"Geometry: {geometry['sm_count']} SMs x {geometry['blocks_per_sm']} blocks, "
        f"{geometry['warps_per_sm']} warps an SM",
        f"Region:   2**{region['size_log2']} bytes from {region['data_base']:#x}",
        *(["Lanes:    scheduled independently"] if header["independent_threads"] else []),
        *(f"Fault:    {each}" for each in header["faults"].values()),
        *(f"Outside:  {each}" for each in header["outside"].values()),
        *(f"Result:   {each}" for each in header["results"].values()),
    ]


def write_words(memory: dict[str, Any]) -> str:
    """How cached writes reach memory."""
    if memory["write_through"]:
        return "written through"
    return f"written back by {memory['granule_bytes']}"


def _answer(flag: bool) -> str:
    return "yes" if flag else "no"


def print_summary(console: Console, summary: dict[str, Any], trace: AnyTrace) -> None:
    """Print what ``trace_summary`` has found of a trace."""
    header = summary["header"]
    lines = [
        f"{summary['trace']}: {summary['form']} trace for {header['system']}",
        f"Source:   {header['source'] or 'unknown'}",
        f"Seed:     {'none' if header['seed'] is None else header['seed']}",
        *_header_lines(header),
    ]
    if "instructions" in summary:
        lines.append(f"Executed: {summary['instructions']} instructions")
    if summary["lowest_address"] is not None:
        low, high = summary["lowest_address"], summary["highest_address"]
        words, key = trace.accesses
        what = f"{summary[key]} {words}"
        lines.append(f"Accessed: from {low:#x} to {high:#x}, {what}")
    for line in lines:
        console.print(line, markup=False)
    rows = [[kind, count] for kind, count in summary["kinds"].items()]
    print_table(console, f"{summary['events']} events", ["kind", "events"], rows)
