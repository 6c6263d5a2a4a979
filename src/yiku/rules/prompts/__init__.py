"""
Package: how a system prompt is put together: budgets, trimming, the gate before recalled memories, condensing of identity files.
"""
