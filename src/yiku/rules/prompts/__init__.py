"""
Rules for system prompts: section budgets, trimming, the gate for recalled memories, condensing identity files.
"""
