"""What commands do for each detector: its traces and suites simulated, its traces on a board."""
