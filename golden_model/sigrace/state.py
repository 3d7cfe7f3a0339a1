"""Architectural state of a configuration, in bits, as Section 5.5 of the paper counts it.

It counts what the method needs, without an implementation's registers, FIFOs and buffers.

Ref: SigRace (ISCA'09) Section 5.5, Table 4.
"""

from __future__ import annotations

from racetrap.golden_model.sigrace.params import Form, SigraceParams


def core_state_bits(params: SigraceParams) -> dict[str, int]:
    """State bits of one core unit by kind.

    The paper's are those of form ``hashed``; with ``sets`` the read and write set are bitmap,
    USB values and their number instead of signatures.
    """
    sets = params.lsb_values + params.usb_limit * params.usb_bits + params.usb_count_bits
    return {
        "timestamps": params.timestamp_width,
        "read_write_sets": 2 * (params.signature_bits if params.form is Form.HASHED else sets),
        "timestamps_to_reach": params.timestamp_width,
        "conflict_signatures": params.signature_bits,
    }


def thread_state_bits(params: SigraceParams) -> int:
    """Bits of a thread's BlockHistoryQueue."""
    return params.history_depth * (2 * params.signature_bits + params.timestamp_width)


def state_bits(params: SigraceParams) -> dict[str, int]:
    """State bits of the whole instance by kind."""
    units = params.cores * params.contexts
    bits = {kind: units * each for kind, each in core_state_bits(params).items()}
    return bits | {"history_queues": params.threads * thread_state_bits(params)}
