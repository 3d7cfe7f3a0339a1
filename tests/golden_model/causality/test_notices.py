"""Steps that a bank does not tell of change nothing in the collector."""

from collections import Counter

import pytest

from racetrap.golden_model.causality.causality import Causality
from racetrap.golden_model.causality.collector import Collector
from racetrap.golden_model.causality.detector_bank import concerns_collector
from racetrap.verdict.gpu.fit import region_with_window
from tests.support.causality.judged import params_for
from tests.support.causality.random_traces import SOURCES

_LITTLE = {"clock_bits": 5, "known": 1, "pending": 0, "seen": 0, "hash_bits": 8, "ratio": 64}


def knowledge_of(collector: Collector) -> list[str]:
    """All that a collector knows and carries, as text."""
    tables = [(row.know, *carried.tables) for row, carried in zip(
        collector.rows, collector.carried, strict=True
    )]  # fmt: skip
    rest = [
        {name: str(value) for name, value in vars(each).items() if not hasattr(value, "exact")}
        for each in (*collector.rows, *collector.carried)
    ]
    known = [(table.exact, table.bits, table.lossy, table.fenced)
             for each in tables for table in each]  # fmt: skip
    return [str(known), str(rest)]


class Watched(Causality):
    """A detector that looks at what its collector makes of each step that it need not see."""

    tells = staticmethod(concerns_collector)

    def transact(self, sm, transaction):
        meet = self.collector.meet
        self.collector.meet = lambda step: self._watch(meet, step)
        try:
            return super().transact(sm, transaction)
        finally:
            del self.collector.meet

    def _watch(self, meet, step):
        row = self.collector.rows[step.packet.warp]
        is_told = self.tells(step, row)
        self.told[is_told] += 1
        before = None if is_told else knowledge_of(self.collector)
        races = meet(step)
        if not is_told:
            assert races == []
            assert knowledge_of(self.collector) == before
        return races


def watch(source, seeds, settings, detects=Watched) -> Counter[bool]:
    """Play random traces; how many steps are told of, and how many are not."""
    told: Counter[bool] = Counter()
    for seed in seeds:
        for trace in SOURCES[source](seed):
            params = params_for(trace, **settings)
            detector = detects(params, region_with_window(trace, params))
            detector.told = told
            for event in trace:
                detector.run(event)
    return told


@pytest.mark.parametrize("settings", [{}, _LITTLE, {"ratio": 64}], ids=str)
@pytest.mark.parametrize("source", ["random programs", "random runs"])
def test_steps_that_are_not_told_of_change_nothing(source, settings):
    told = watch(source, range(5), settings)
    assert min(told[False], told[True]) > 10


@pytest.mark.campaign
@pytest.mark.parametrize("settings", [{}, _LITTLE, {"ratio": 64}], ids=str)
@pytest.mark.parametrize("source", SOURCES)
def test_volume_of_steps_that_are_not_told_of(source, settings):
    watch(source, range(100), settings)


#: Banks that do not tell of something.
_SILENT = {
    name: lambda step, row, field=field: concerns_collector(step._replace(**{field: 0}), row)
    for name, field in (("races", "against"), ("unknown", "unknown"), ("fences", "fenced"))
}


@pytest.mark.parametrize("what", _SILENT)
def test_bank_that_does_not_tell_is_seen(what):
    class Silent(Watched):
        tells = staticmethod(_SILENT[what])

    with pytest.raises(AssertionError):
        watch("random programs", range(100), {"ratio": 64}, Silent)
