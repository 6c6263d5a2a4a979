"""Learning: from turns to statements, sessions and episodes."""
