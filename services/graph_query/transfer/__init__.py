"""The space's nodes and relationships as rows of an archive, and back."""
