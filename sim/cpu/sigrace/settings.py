"""Settings of the compiled SigRace machine."""

from __future__ import annotations

import ctypes
from ctypes import Structure, c_uint32, c_uint64
from typing import Any

from racetrap.golden_model.sigrace.address_ring import RECENT, WORD_LOG2
from racetrap.golden_model.sigrace.params import ADDRESS_BITS, Form, SigraceParams
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.sigrace.sync_library import MAX_INSTRUCTIONS
from racetrap.golden_model.trace.threads.events import GRANULE_LOG2
from racetrap.sim.twins import constants, structure


class Settings(Structure):
    """A machine, and its mapping of threads."""

    _fields_ = [
        (name, c_uint64)
        for name in (
            "cores", "contexts", "threads", "lsb_bits", "is_hashed", "usb_limit", "usb_count_bits",
            "block_instructions", "max_count", "max_counter", "history_depth", "log_depth",
            "log_blocks", "message_bits", "filters", "signature_bits", "is_unbounded", "interval",
            "slots", "moves", "quantum", "is_measured", "answered", "ring_depth", "ring_blocks",
        )
    ]  # fmt: skip


class Filter(Structure):
    """A filter of a signature."""

    _fields_ = [
        ("is_lsb", c_uint32),
        ("offset", c_uint32),
        ("bits", c_uint32),
        ("rows", c_uint32 * ADDRESS_BITS),
    ]


#: Both structures for C++.
SETTINGS_TWINS = (
    constants(
        {
            "ADDRESS_BITS": ADDRESS_BITS,
            "MAX_INSTRUCTIONS": MAX_INSTRUCTIONS,
            "RING_RECENT": RECENT,
            "RING_WORD_LOG2": WORD_LOG2,
        },
        ctype="uint32_t",
    ),
    structure(Settings),
    structure(Filter),
)


def settings_of(sigrace: Sigrace) -> Settings:
    """Settings of a machine."""
    params, environment = sigrace.params, sigrace.environment
    return Settings(
        cores=params.cores, contexts=params.contexts, threads=params.threads,
        lsb_bits=params.lsb_bits, is_hashed=params.form is Form.HASHED,
        usb_limit=params.usb_limit, usb_count_bits=params.usb_count_bits,
        block_instructions=params.block_instructions, max_count=(1 << params.counter_bits) - 1,
        max_counter=params.max_counter, history_depth=params.history_depth,
        log_depth=params.log_depth, log_blocks=params.log_blocks,
        message_bits=params.header_layout.width + params.timestamp_width,
        filters=len(params.sub_filters), signature_bits=params.signature_bits,
        is_unbounded=sigrace.unbounded, interval=sigrace.checkpoint_interval,
        slots=len(environment.slots(params)), moves=environment.name == "migration",
        quantum=environment.quantum, answered=sigrace.answered,
        ring_depth=sigrace.ring_depth, ring_blocks=1 << params.sequence_bits,
    )  # fmt: skip


def filters_of(params: SigraceParams) -> ctypes.Array[Any]:
    """Filters, without the granule's two bits of the LSB portion."""
    filters = []
    for each in params.sub_filters:
        if each.rows is None:
            rows = tuple(1 << bit for bit in range(params.lsb_bits - GRANULE_LOG2))
        else:
            rows = each.rows[GRANULE_LOG2 if each.is_lsb else 0 :]
        padded = (ctypes.c_uint32 * ADDRESS_BITS)(*rows)
        filters.append(Filter(each.is_lsb, each.offset, each.bits, padded))
    return (Filter * len(filters))(*filters)
