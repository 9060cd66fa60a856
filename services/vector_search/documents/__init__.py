"""Documents: versions in time, their chunks, writes, deletions, and lists of what a space holds."""
