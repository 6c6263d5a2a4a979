"""Parse, format, chunk and merge Markdown pages; detect hand edits; format exports, audit reports and provenance."""
