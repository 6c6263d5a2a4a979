"""Derive records from a session: its task, episode, scratchpad and attachments."""
