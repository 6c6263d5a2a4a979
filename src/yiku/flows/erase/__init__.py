"""Erasure: remove content from every copy in the home."""
