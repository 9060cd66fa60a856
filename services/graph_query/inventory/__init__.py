"""What a space's graph holds, by id alone; and the removal of what should not be there."""
