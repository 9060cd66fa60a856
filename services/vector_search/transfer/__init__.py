"""The space's documents, chunks and vectors as rows of an archive, and back."""
