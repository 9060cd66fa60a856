"""`/api/documents`."""
