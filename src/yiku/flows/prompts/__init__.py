"""
Build system prompts, inject memories into users' prompts, summarize identity files, publish MEMORY.md and USER.md.
"""
