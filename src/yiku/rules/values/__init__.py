"""Compare values across spellings, units and languages; parse the times in questions."""
