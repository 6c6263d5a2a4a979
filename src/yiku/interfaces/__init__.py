"""Interfaces: command line, importers, MCP server, hooks and tools; they use `Memory`, settings and types only."""
