"""The vector and text tier: chunks of documents in PostgreSQL, by similarity and by BM25.

New vectors go to a table without an HNSW index (`embedding_<id>_unindexed`). Spaces of up to 4,000 chunks stay there
and are searched exactly; `indexing` moves the vectors of larger spaces to the indexed table (`embedding_<id>`).
"""
