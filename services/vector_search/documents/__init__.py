"""Documents: versions in time, their chunks, writes, deletions, and listings of a space's content."""
