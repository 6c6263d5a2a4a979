"""Rules of the night: when a memory fades or is purged, which are duplicates or contradict, how reports are formatted."""
