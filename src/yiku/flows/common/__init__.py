"""What every flow is built on: the handle, checks, cleaning, looking up, tombstones."""
