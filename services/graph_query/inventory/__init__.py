"""What a space's graph has, by id alone; and the removal of what should not be there."""
