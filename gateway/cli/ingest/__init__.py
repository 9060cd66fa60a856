"""`braid ingest`."""
