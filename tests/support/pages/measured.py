"""JSON of commands that measure, as far as the history of the results reads it."""

COST = {
    "tables": [{"preset": "scord", "settings": [], "blocks": [
        {"block": "bank", "costs": {
            "ecp5": {
                "synthesis": {"cells": {"LUT4": 2000, "CCU2C": 200}, "lut": 2400, "ff": 900,
                              "block_ram": 14},
                "fmax_mhz": {"median": 105.5},
            },
            "ice40": {"synthesis": None, "fmax_mhz": None},
        }},
    ]}],
}  # fmt: skip
BENCH = {
    "tools": {},
    "scord": {
        "latency": None,
        "speed": {
            "together": {"median": 9e5},
            "same_trace": {"cocotb": 50.0, "fast": 1500.0},
        },
        "accesses_per_cycle": {"streaming": 1.0, "back_to_back": 0.99},
        "banks": {"one": 1.0, "four": 3.9, "ratio": 3.9},
        "saturated": {"scord-wide": {"hardware": {"median": 3e6}, "together": {"median": 1e6}}},
        "fences": [{"lanes": 4, "sms": 15, "fences_per_cycle": 3.75}],
        "widths": [{"words": 8, "traffic": "one line", "accesses_per_cycle": 7.9,
                    "reads_per_cycle": 0.1}],
        "executor": {"64": 1e5, "1024": 2e6},
        "executor_independent_threads": {"64": 1e5, "1024": 2e6},
        "executor_loops": {"fused multiply and add": 0.1},
        "applications": [{"name": "RED", "causality": 8e5}],
    },
    "sigrace": {
        "speed": {
            "together": {"median": 7e4},
            "same_trace": {},
        },
        "worst_scan": {"comparisons": 112, "cycles": 224},
        "sustained": [{"block_instructions": 2000, "message_cycles": 250.0}],
        "recorder": [{"name": "a.c", "recorded": {"median": 6e7}}],
    },
    "noncoherent": {
        "analysis": [{"operations": 1000, "mode": "strict", "buffers": 4, "check": 2.0}],
        "recorder": {"neighbours": {"median": 3e7}, "scattered": {"median": 2e7}},
    },
}  # fmt: skip

_ROW = {"racy": 3, "found": 2, "race_free": 4, "reported": 0, "ordered": 1, "strong": 5}
DETECTION = {
    "tables": {
        "a": {"causality": {**_ROW, "outcomes": {"reported": 3, "taken as a flag": 2}}},
        "b": {"causality": {**_ROW, "racy": 2, "race_free": 0, "ordered": 0,
                            "outcomes": {"reported": 4}}},
    }
}  # fmt: skip
