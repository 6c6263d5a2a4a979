"""Decide what a statement does to earlier ones."""
