"""Questions about the sample corpus with the statements that answer them."""
