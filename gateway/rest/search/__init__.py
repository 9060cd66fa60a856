"""`/api/search/…`."""
