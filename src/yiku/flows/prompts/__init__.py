"""
Package: system prompts: what memory adds to one, and the agent's identity files condensed for it.
"""
