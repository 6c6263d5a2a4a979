"""Scheduled maintenance (a night) in phases: expire, learn, merge, rank, purge, publish; decisions are recorded."""
