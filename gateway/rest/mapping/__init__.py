"""JSON fields and contract fields: names, types, validation errors, encoding, OpenAPI."""
