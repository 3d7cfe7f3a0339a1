"""Known misses and false reports: a module of the detector's name for each, and ``exact``."""
