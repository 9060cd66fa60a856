"""`braid eval`: measures the user's own questions."""
