"""What stays out, what is masked, what is fenced off and what is erased."""
