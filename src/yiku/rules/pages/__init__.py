"""Markdown pages: blocks, chunks, the managed region, additions, merging and hand edits."""
