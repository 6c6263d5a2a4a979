"""Files of Yiku's home folder besides the database: paths, blobs, hook inbox, transcripts, notes, locks, permissions."""
