"""Interfaces on top of `Memory`: command line, importers, MCP server, hooks of coding agents, tools for models."""
