"""Convert chat messages and agent events to turns; derive tasks, tool calls, outcomes, episodes, scratchpads, files."""
