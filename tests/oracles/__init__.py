"""In-memory stores with which tests compare the real ones."""
