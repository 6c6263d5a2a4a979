"""Learning: extract statements from turns by rules, model or agent; hook ingest, sessions, episodes, review."""
