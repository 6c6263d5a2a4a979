"""Erasing: what was said is gone from every copy in the home."""
