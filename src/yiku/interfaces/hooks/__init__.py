"""Hooks of coding agents: capture their events, and inject memories into their prompts."""
