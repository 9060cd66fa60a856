"""`/api/findings`."""
