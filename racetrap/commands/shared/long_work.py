"""Long work of a command: rows are printed at once and kept; an interrupt leaves a partial
result."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import count, islice, takewhile
from typing import Any, Generic, Protocol, TypeVar

from rich.console import Console

from racetrap.commands.shared.ending import expect_a_result, write_before_the_end
from racetrap.commands.shared.options import worker_count
from racetrap.commands.shared.terminal import (
    ExitStatus,
    command_line,
    complain,
    fail,
    progress_bar,
    report_console,
    write_file,
    write_json,
)
from racetrap.evaluation.kept_results import KeptResults, result_key
from racetrap.evaluation.processes import processes
from racetrap.sim.content_cache import cache_folder
from racetrap.sim.failure import Failure

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_Made = TypeVar("_Made")
#: Maximum missing rows named in a sentence.
_NAMED = 5


class _LongResult(Protocol):
    """What a call has measured."""

    @property
    def document(self) -> Mapping[str, Any]: ...
    @property
    def problems(self) -> Sequence[str]: ...
    @property
    def make_page(self) -> Callable[[str], str]: ...
    def show(self, console: Console) -> None: ...


@dataclass
class _Row(Generic[_Item, _Result]):
    """A row: its items, and the results so far by number of the item."""

    label: str
    items: Iterable[_Item]
    is_enough: Callable[[Sequence[_Result]], bool] | None
    found: dict[int, _Result] = field(default_factory=dict)

    @property
    def results(self) -> list[_Result]:
        """Results from the first item on, without gaps, as many as are needed."""
        found = [self.found[number] for number in takewhile(self.found.__contains__, count())]
        if (is_enough := self.is_enough) is None:
            return found
        return found[: bisect(range(len(found)), False, key=lambda end: is_enough(found[:end]))]

    @property
    def is_done(self) -> bool:
        if self.is_enough is not None:
            return self.is_enough(self.results)
        return isinstance(self.items, Sequence) and len(self.found) == len(self.items)


@dataclass(frozen=True)
class Measure(Generic[_Item, _Result]):
    """Measurement of the rows of a table.

    Parameters
    ----------
    run : callable
        Computes the result of an item in a worker process; both are plain data.
    say : callable
        Text of a row, given its results in the order of its items.
    key : callable
        Key of an item's result, derived from all its inputs; empty if these are unknown and nothing
        can be kept.
    keeps : callable
        Whether a result is worth keeping.
    is_enough : callable, optional
        Whether results from the first item on suffice for a row with unlimited items.
    folder : str
        Folder in the cache.
    is_timing : bool
        Whether rows are dropped once a call has all of them, so that the next call measures again.
    """

    run: Callable[[_Item], _Result]
    say: Callable[..., str]
    key: Callable[[Callable[[_Item], _Result], _Item], str] = result_key
    keeps: Callable[[_Result], bool] = lambda result: True
    is_enough: Callable[[Sequence[_Result]], bool] | None = None
    folder: str = "rows"
    is_timing: bool = False


class LongWork:
    """All rows of a command or of a call from Python.

    An interrupt or a failing tool ends the work, not the command, which continues with the rows so
    far until ``finish`` ends it; it ends a call from Python at once.

    Parameters
    ----------
    jobs : int, optional
        Items measured at the same time; by default as many as the command line says.
    pool : callable, optional
        Pool to use instead of ``jobs`` worker processes.
    console : Console, optional
        Of a call from Python: where rows are printed.
    """

    def __init__(
        self, jobs: int | None = None,
        pool: Callable[[], AbstractContextManager[Executor]] | None = None,
        console: Console | None = None,
    ) -> None:  # fmt: skip
        self._is_command = console is None
        if self._is_command:
            expect_a_result()
        self.jobs = worker_count() if jobs is None else jobs
        self._pool = pool
        self.kept = self._total = 0
        self.missing: list[str] = []
        self._stop: BaseException | None = None
        self._keeps = True
        self._console = console or report_console()

    def attempt(self, make: Callable[[], _Made]) -> _Made | None:
        """Result of ``make``; None if the work has been stopped, or is stopped by it."""
        if self._stop is None:
            try:
                return make()
            except ModuleNotFoundError:
                raise  # the same command would fail again
            except BaseException as error:
                if not self._is_command:
                    raise
                self._stop = error
                if not isinstance(error, Exception):
                    write_before_the_end()
        return None

    def rows(
        self, title: str, measure: Measure[_Item, _Result], items: Mapping[str, Iterable[_Item]],
        jobs: int = 0,
    ) -> dict[str, list[_Result]]:  # fmt: skip
        """Results of the complete rows, in the order of ``items``.

        Each row is printed once complete, unless it was kept from an earlier call.

        Parameters
        ----------
        title : str
            Name of the table.
        measure : Measure
            How to measure it.
        items : mapping of str to iterable
            Items of each row.
        jobs : int
            Worker processes instead of the usual number.
        """
        store = KeptResults(cache_folder() / measure.folder)
        rows = [_Row(label, each, measure.is_enough) for label, each in items.items()]
        for row in rows:
            self._look_up(row, measure, store)
        kept = sum(row.is_done for row in rows)
        self.kept, self._total = self.kept + kept, self._total + len(rows)
        if kept:
            self._console.print(f"{title}: {kept} of {len(rows)} rows kept from before")
        if kept < len(rows):
            self.attempt(lambda: self._run(title, rows, measure, store, jobs or self.jobs))
        missing = [row.label for row in rows if not row.is_done]
        if measure.is_timing and not missing:
            for item in (item for row in rows for item in row.items):
                store.forget(measure.key(measure.run, item))
        self.missing += missing
        return {row.label: row.results for row in rows if row.is_done}

    def one_each(
        self, title: str, measure: Measure[_Item, _Result], items: Mapping[str, _Item],
        jobs: int = 0,
    ) -> dict[str, _Result]:  # fmt: skip
        """The same for rows of one item each."""
        found = self.rows(title, measure, {label: [item] for label, item in items.items()}, jobs)
        return {label: result for label, (result,) in found.items()}

    def _look_up(
        self, row: _Row[_Item, _Result], measure: Measure[_Item, _Result], store: KeptResults
    ) -> None:
        """Load kept results."""
        for number, item in enumerate(row.items):
            key = measure.key(measure.run, item)
            if key and (kept := store.load(key)):
                (row.found[number],) = kept
            elif row.is_enough is not None:
                break
            if row.is_enough is not None and row.is_done:
                break

    def _run(
        self, title: str, rows: Sequence[_Row[_Item, _Result]], measure: Measure[_Item, _Result],
        store: KeptResults, jobs: int,
    ) -> None:  # fmt: skip
        """Compute missing results, in order, and keep each at once."""
        left = ((row, number, item) for row in rows for number, item in _missing(row))
        running: dict[Future[_Result], tuple[_Row[_Item, _Result], int, _Item]] = {}
        pool = self._pool or (lambda: processes(jobs))
        total = sum(not row.is_done for row in rows)
        with progress_bar(title, total) as update, pool() as executor:
            try:
                while True:
                    for row, number, item in islice(left, jobs - len(running)):
                        running[executor.submit(measure.run, item)] = row, number, item
                    if not running:
                        return
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        row, number, item = running.pop(future)
                        was_done, row.found[number] = row.is_done, future.result()
                        self._keep(measure, store, item, row.found[number])
                        if row.is_done and not was_done:
                            update(advance=1)
                            self._say(row.label, measure.say(*row.results))
            finally:
                for future in running:
                    future.cancel()

    def _say(self, label: str, words: str) -> None:
        self._console.print(f"{label}: {words}", markup=False)

    def _keep(
        self, measure: Measure[_Item, _Result], store: KeptResults, item: _Item, result: _Result
    ) -> None:
        key = measure.key(measure.run, item)
        if not (self._keeps and key and measure.keeps(result)):
            return
        try:
            store.save(key, result)
        except (Failure, OSError) as error:
            self._keeps = False
            complain(f"Rows are not kept for another call: {error}")

    @property
    def remark(self) -> dict[str, str]:
        """Remark on a partial table; empty if no row is missing."""
        if not self.missing:
            return {}
        named = "; ".join(self.missing[:_NAMED])
        more = f" and {left} more" if (left := len(self.missing) - _NAMED) > 0 else ""
        return {
            "incomplete": f"{len(self.missing)} of {self._total} rows missing ({named}{more}); "
            "the same command continues from there"
        }

    def finish_with(
        self, result: _LongResult, json_file: str | None, page_file: str | None = None
    ) -> None:
        """Print and write what a call has measured, then exit as ``finish`` does."""
        self.finish(
            result.show, dict(result.document), json_file, page_file=page_file,
            page=lambda: result.make_page(command_line()), problems=result.problems,
        )  # fmt: skip

    @property
    def progress(self) -> dict[str, Any]:
        """How far the work came, for JSON."""
        return {"complete": self._stop is None, "missing": self.missing, "kept": self.kept}

    def finish(
        self, show: Callable[[Console], object], document: dict[str, Any], json_file: str | None,
        *, page_file: str | None = None, page: Callable[[], str] = str,
        problems: Sequence[str] = (),
    ) -> None:  # fmt: skip
        """Print and write all results, then exit according to what stopped the work.

        Parameters
        ----------
        show : callable
            Prints the tables.
        document, json_file
            The result as JSON, and its file.
        page, page_file
            The result as a page, and its file.
        problems : sequence of str
            Problems: exit with the first.
        """
        # Files first: the reader of standard output may be gone.
        write_json(json_file, self.progress | document)
        write_file(page_file, page)
        console = report_console()  # the interrupt may have come in the middle of a line
        for sentence in self.remark.values():
            console.print(f"Incomplete: {sentence}.", markup=False)
        show(console)
        if self._stop is not None:
            raise self._stop
        if problems:
            fail(problems[0], ExitStatus.FAILED)


def _missing(row: _Row[_Item, _Result]) -> Iterator[tuple[int, _Item]]:
    """Items of a row without a result, until there are enough."""
    for number, item in enumerate(row.items):
        if row.is_done:
            return
        if number not in row.found:
            yield number, item
