"""Looking after a home: import and export, backups, repair, status."""
