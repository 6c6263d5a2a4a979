"""Decide a statement's slot, expiry and effect on earlier ones (confirm, replace, retract); select versions by time."""
