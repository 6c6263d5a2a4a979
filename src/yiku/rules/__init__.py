"""Pure functions that parse text and decide: no clock, disk, network or database."""
