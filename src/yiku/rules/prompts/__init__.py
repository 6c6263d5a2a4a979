"""
Rules for system prompts: section budgets, which recalled memories enter, persona weights, identity file summaries.
"""
