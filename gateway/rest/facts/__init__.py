"""`/api/facts`."""
