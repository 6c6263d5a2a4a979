"""Hooks of coding agents: capture their events, and bring memories into their prompts."""
