"""Maintenance: import, export, backup, repair, status."""
