"""The processing of uploads by workers: read, prepare, embed and store them, then add them to the graph."""
