"""Drop-in interfaces of other memory systems, implemented on Yiku's data folder. README.md says why they exist."""
