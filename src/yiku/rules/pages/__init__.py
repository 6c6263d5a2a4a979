"""Markdown files: blocks and the chunks that are indexed."""
