"""One module for each format: converts bytes to text and the positions where its parts begin."""
