"""`python -m racetrap`: the command line."""

from racetrap.cli import main

main()
