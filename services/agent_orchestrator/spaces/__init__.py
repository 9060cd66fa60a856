"""A space as a whole: counts of what it contains in each store, and its deletion with a receipt."""
