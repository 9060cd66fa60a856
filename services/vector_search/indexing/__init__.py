"""The HNSW index: vectors that were written enter it in the background."""
