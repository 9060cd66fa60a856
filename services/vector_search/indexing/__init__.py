"""The HNSW index: written vectors are added in the background."""
