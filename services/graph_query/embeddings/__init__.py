"""A space's embedding model, the vectors in use, and the change to another model."""
