"""What workers do with uploads: read, prepare, embed and store them, then add them to the graph."""
