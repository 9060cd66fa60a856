"""Jobs that move a space to another embedding or language model while it remains available."""
