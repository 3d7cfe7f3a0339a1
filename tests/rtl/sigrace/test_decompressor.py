"""The decompressor against the golden one: messages of both forms, good and broken."""

import itertools
from dataclasses import replace
from random import Random

import pytest

from racetrap.golden_model.sigrace.address_set import AddressSet
from racetrap.golden_model.sigrace.decompressor import decode
from racetrap.golden_model.sigrace.params import Form, SigraceParams
from racetrap.rtl.sigrace.decompressor import Decompressor
from tests.support.campaign import later_but
from tests.support.rtl.ready_paths import valid_to_ready_paths
from tests.support.rtl.streams import get_all, monitor, put_all, random_idle, simulate
from tests.support.sigrace.configurations import SMALL, signature_params
from tests.support.sigrace.messages import flit_words, random_message, random_set, summary_fields

HASHED = replace(SMALL, form=Form.HASHED)
PAPER = SigraceParams()
CONFIGURATIONS = {
    "small": SMALL,
    "small hashed": HASHED,
    "one-hot": replace(SMALL, one_hot_lsb=True),
    "one-hot hashed": replace(HASHED, one_hot_lsb=True, lsb_bits=4, threads=1),
    "narrow": replace(SMALL, lsb_bits=4, threads=1, usb_limit=1, timestamp_bits=2),
    "wide": replace(SMALL, lsb_bits=12, threads=5, usb_limit=63, timestamp_bits=32),
    "raw of 32 bits": replace(HASHED, filter_bits=64, threads=16, timestamp_bits=2),
    "raw of 16 bits": replace(HASHED, filter_bits=16, filters=6, threads=17),
}


def received(params: SigraceParams, words: list[int]) -> list[dict[str, int]]:
    results = []
    for word in words:
        fields = params.summary_layout.unpack(word)
        fields |= fields.pop("header")
        del fields["is_hashed"]
        if fields["is_malformed"]:
            fields = {k: v for k, v in fields.items() if k not in ("timestamp", "read", "write")}
        results.append(fields)
    return results


def run(params, messages, *, idle=None, stall=None):
    """Decompress ``messages`` and compare; gives the transfers of the input with their cycle."""
    dut = Decompressor(params)
    words = [word for flits in messages for word in flit_words(params, flits)]
    got, taken, out = [], [], []
    simulate(
        dut,
        put_all(dut.i, words, **({"idle": idle} if idle else {})),
        get_all(dut.o, len(messages), got, **({"idle": stall} if stall else {})),
        background=[monitor(dut.i, taken), monitor(dut.o, out)],
    )
    expected = [decode(params, flits) for flits in messages]
    assert received(params, got) == [summary_fields(params, each) for each in expected]
    return expected, taken, out


@pytest.mark.parametrize(
    ("name", "broken"),
    later_but(
        lambda each: each[1] or each[0] == next(iter(CONFIGURATIONS)),
        itertools.product(CONFIGURATIONS, (0.0, 0.8)),
    ),
)
def test_random_messages(name, broken):
    params = CONFIGURATIONS[name]
    rng = Random(f"decompressor {name} {broken}")
    messages = [random_message(params, rng, broken) for _ in range(25)]
    idle, stall = random_idle(f"idle {name}"), random_idle(f"stall {name}", 0.7, 30)
    expected, *_ = run(params, messages, idle=idle, stall=stall)
    bad = sum(each.is_malformed for each in expected)
    assert bad == 0 if broken == 0 else 0 < bad < len(messages)


@pytest.mark.parametrize("name", ["B1_S3", "B2_S2", "B2_S6", "B3_S6"])
def test_configurations_of_the_paper(name):
    params = signature_params(name)
    rng = Random(name)
    run(params, [random_message(params, rng) for _ in range(3)])


@pytest.mark.parametrize("form", list(Form))
def test_other_form_is_malformed(form):
    other = Form.SETS if form is Form.HASHED else Form.HASHED
    rng = Random(f"other {form}")
    messages = [random_message(replace(SMALL, form=other), rng) for _ in range(3)]
    messages += [random_message(replace(SMALL, form=form), rng)]
    expected, *_ = run(replace(SMALL, form=form), messages)
    assert [each.is_malformed for each in expected] == [1, 1, 1, 0]


def test_every_length_but_the_right_one_is_malformed():
    rng = Random("lengths")
    for params in (SMALL, HASHED):
        flits = random_message(
            params, rng, read=random_set(params, rng, 9), write=random_set(params, rng, 9)
        )
        longer = (*flits, 0, 0, 0)
        expected, *_ = run(params, [longer[: 1 + end] for end in range(len(longer))])
        assert [not each.is_malformed for each in expected] == [
            end + 1 == len(flits) for end in range(len(longer))
        ]


def test_dense_and_alternating_bitmaps_and_rate():
    """A run a cycle: an alternating bitmap of 256 bits takes 256 cycles."""
    params = PAPER
    alternating = AddressSet(sum(1 << 2 * bit for bit in range(128)), [5])
    full = AddressSet((1 << 256) - 1, range(24))
    rng = Random("rate")
    messages = [
        random_message(params, rng, read=alternating, write=full),
        random_message(params, rng, read=AddressSet(), write=AddressSet()),
        random_message(params, rng, read=full, write=alternating),
    ]
    _, taken, out = run(params, messages)
    # Header, timestamp, 2 beginnings, 256 runs and 1 run, 2 counts, 1 + 24 values; and the rest.
    assert out[0][0] - taken[0][0] <= 1 + 5 + 2 + 256 + 1 + 2 + 25 + 25


def test_no_path_from_valid_to_ready():
    for params in (SMALL, HASHED):
        assert valid_to_ready_paths(Decompressor(params)) == []
