"""Maintenance of a whole memory: import, export, backup, restore, check, repair, rebuild, audit, SQL, status."""
