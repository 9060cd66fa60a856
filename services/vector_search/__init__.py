"""The vector and text tier: chunks of documents in PostgreSQL, by similarity and by BM25.

Vectors are written beside the index of their model (`embedding_<id>_unindexed`). Spaces of up to 4,000 chunks stay
there and are compared in full; `indexing` brings those of larger ones into the index (`embedding_<id>`) in time.
"""
