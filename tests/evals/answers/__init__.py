"""Questions about the sample corpus, labeled with the statements that answer them."""
