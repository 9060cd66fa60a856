"""Whether any door of Braid lets a caller see, count or change what is another space's or another user's."""
