"""Decide and read, purely: no clock, disk, network or database."""
