"""Run of a command whose figures are kept.

``python -m docs.site.history COMMAND...`` runs ``racetrap COMMAND... --json``, or for ``detection``
that command of the tests, and adds a row to ``docs/results.csv`` of each figure that it gives.
"""

from __future__ import annotations

import sys

from docs.site.history.results import main

if __name__ == "__main__":
    main(*sys.argv[1:])
