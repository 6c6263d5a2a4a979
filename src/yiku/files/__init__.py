"""Files outside the database: the home's layout, blobs, mounts, permissions."""
