"""Store rows in SQLite: all that others import of it is in store/api.py."""
