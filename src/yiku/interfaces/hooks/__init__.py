"""Hooks of coding agents: install them, capture the agents' events, and inject memories into their prompts."""
