"""Fact search: words, vectors and named entities, ranking, reranking, and facts as they were known."""
