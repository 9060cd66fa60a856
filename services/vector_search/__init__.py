"""The vector and text tier: chunks of documents in PostgreSQL, by similarity and by BM25."""
