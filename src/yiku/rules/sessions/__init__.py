"""What grows out of a running session: its task, episode, scratchpad and files."""
