"""Rows in SQLite; other packages import store/api.py alone."""
