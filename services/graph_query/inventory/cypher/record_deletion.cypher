// Records what a deletion has removed so far, and deletes the space's old records of deletions.
MERGE (d:BraidDeletion {group_id: $p.space, id: $p.id})
SET d += $p.counts, d.ended = $p.ended, d.kept_at = $p.now
WITH d
MATCH (old:BraidDeletion) USING INDEX SEEK old:BraidDeletion(group_id, id) WHERE old.group_id = $p.space AND old.id >= '' AND old.kept_at < $p.before
DELETE old
