"""Messages between a CUDA program and the executor, from their table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from racetrap.sim.gpu.cuda.messages import MESSAGES
from racetrap.sim.gpu.cuda.protocol import MAGIC, MOST_BYTES, VERSION, Field


def _numbers(fields: Sequence[Field]) -> str:
    return ", ".join(f"{field.name} ({field.type}: {field.meaning})" for field in fields) or "none"


def _lines() -> Iterator[str]:
    for message in MESSAGES.values():
        yield f"\n## {message.code}: `{message.name}`\n"
        yield f"{message.meaning}\n"
        yield f"* request: {_numbers(message.request)}"
        if message.tail:
            yield f"* tail: {message.tail}"
        yield f"* reply: {_numbers(message.reply)}"


def protocol_messages() -> str:
    """Limits and messages, as Markdown."""
    limits = (
        f"Magic {MAGIC:#x}, version {VERSION}; a body has at most {MOST_BYTES} bytes, its tail "
        "included."
    )
    return "\n".join([limits, *_lines(), ""])
