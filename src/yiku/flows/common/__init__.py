"""Shared by flows: `Handle`, argument checks, input sanitizing, id lookup, pause, threads, refusal of erased text."""
