"""Run of a command whose figures are kept.

``python -m docs.site.history COMMAND...`` runs ``racetrap COMMAND... --json``, and adds a
row to ``docs/results.csv`` of each figure that the command gives.
"""

from __future__ import annotations

import sys

from docs.site.history.results import main

if __name__ == "__main__":
    main(*sys.argv[1:])
