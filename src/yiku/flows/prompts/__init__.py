"""
System prompts: what memory contributes to one, and summaries of the agent's identity files.
"""
