"""Fuzzing of readers: each mutated file must be read, or refused in a sentence, within limits."""

from __future__ import annotations

import hashlib
import random
import resource
import signal
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from racetrap.evaluation.fuzzing.mutation import mutate
from racetrap.evaluation.fuzzing.readers import READERS, REFUSALS, Reader
from racetrap.evaluation.processes import memory_of_process

#: Limits for a file no larger than those of the corpus.
SECONDS = 10
MEMORY_BYTES = 1 << 30
_BATCH_INPUTS = 250
#: Addresses that a process may reserve: the executor's are far more than the memory it takes.
_ADDRESSES = 64 << 30


@dataclass(frozen=True)
class Finding:
    """A file that a reader crashes on, or reads for too long.

    Parameters
    ----------
    reader : str
        Name of the reader.
    number : int
        Number of the file among those of the seed.
    problem : str
        What happens, in one line.
    data : bytes
        The file.
    """

    reader: str
    number: int
    problem: str
    data: bytes


@dataclass(frozen=True)
class Batch:
    """Files with numbers ``first`` to ``last - 1`` for a reader."""

    reader: str
    seed: int
    first: int
    last: int


class _TooLongError(BaseException):
    """Time is over; readers do not handle it as an error of a file."""


def batches(names: Sequence[str], inputs: int, seed: int) -> list[Batch]:
    """A number of inputs in all, shared equally among readers."""
    shares = [
        (name, inputs // len(names) + (number < inputs % len(names)))
        for number, name in enumerate(names)
    ]
    return [
        Batch(name, seed, first, min(first + _BATCH_INPUTS, share))
        for name, share in shares
        for first in range(0, share, _BATCH_INPUTS)
    ]


def run_batch(batch: Batch) -> list[Finding]:
    """Findings in a batch's files; the same for the same batch."""
    reader = READERS[batch.reader]
    right = reader.corpus()
    findings = []
    with tempfile.TemporaryDirectory() as folder, _limits():
        path = Path(folder, f"input{reader.suffix}")
        for number in range(batch.first, batch.last):
            data = mutate(random.Random(f"{batch.reader} {batch.seed} {number}"), right)
            path.write_bytes(data)
            if problem := outcome(reader, path):
                findings.append(Finding(reader.name, number, problem, data))
    return findings


def keep(finding: Finding, folder: Path) -> Path:
    """Write a finding's file into the folder of its reader, named by its contents."""
    digest = hashlib.sha256(finding.data).hexdigest()[:12]
    path = folder / finding.reader / f"{digest}{READERS[finding.reader].suffix}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(finding.data)
    return path


def outcome(reader: Reader, path: Path) -> str:
    """Problem in how a file is read; empty if there is none."""
    Path("/proc/self/clear_refs").write_text("5")  # forgets the most memory that was taken so far
    before = memory_of_process("VmRSS")
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        reader.read(path)
        if memory_of_process("VmHWM") - before > MEMORY_BYTES:
            raise MemoryError
    except REFUSALS as error:
        # Our sentences come from our own statements: Python's own state no rule of a format.
        if (traceback.extract_tb(error.__traceback__)[-1].line or "").startswith("raise "):
            return ""
        return f"Sentence is Python's own: {str(error)[:200]!r}"
    except _TooLongError:
        return f"Reader took longer than {SECONDS} s"
    except MemoryError:
        return f"Reader took more than {MEMORY_BYTES >> 30} GiB of memory"
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return (
            f"Reader neither read nor refused the file, but ended in {type(error).__name__}: "
            f"{str(error)[:200]!r} at {Path(where.filename).name}:{where.lineno}"
        )
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return ""


@contextmanager
def _limits() -> Iterator[None]:
    """Limits of this process, on top of what it has taken so far."""
    old_limits, old_handler = resource.getrlimit(resource.RLIMIT_AS), signal.getsignal(_ALARM)
    signal.signal(_ALARM, _raise)
    resource.setrlimit(
        resource.RLIMIT_AS, (memory_of_process("VmSize") + _ADDRESSES, old_limits[1])
    )
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, old_limits)
        signal.signal(_ALARM, old_handler)


_ALARM = signal.SIGALRM


def _raise(number: int, frame: FrameType | None) -> None:
    raise _TooLongError
