"""Rules of nightly maintenance: fading, duplicates, contradictions, beliefs, entity summaries, persona, reports."""
