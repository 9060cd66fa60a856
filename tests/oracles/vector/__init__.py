"""What the vector tier should answer, in plain Python."""
