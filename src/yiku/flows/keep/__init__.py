"""Writing: record turns, store, change, forget and undo statements; attachments, scratchpad, use counts, transcripts."""
