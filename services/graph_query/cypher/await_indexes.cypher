// Waits until all indexes are online.
CALL db.awaitIndexes($seconds)
