"""Search and read: recall, prompt context, listing, quoting, traces, provenance; embedding in the background."""
