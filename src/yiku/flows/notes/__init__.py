"""Notes: the Markdown files of the vault, indexed, published and written to."""
