"""Storing: turns, statements, and what changes or takes them back."""
