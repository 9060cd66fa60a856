"""Which model a space has, the vectors that it compares with, and its change to another model."""
