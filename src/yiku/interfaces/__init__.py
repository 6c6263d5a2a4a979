"""Interfaces: the command line and importers; they use `Memory`, settings and types only."""
