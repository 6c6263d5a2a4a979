"""Compatible interfaces: other memory systems' own names over one Yiku home. README.md says why they exist."""
