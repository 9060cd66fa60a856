// Stores items of a quarantine, creating it with the first.
MERGE (q:BraidQuarantine {group_id: $p.space, id: $p.quarantine})
ON CREATE SET q.created_at = $p.now, q.counts = [0, 0, 0, 0]
SET q.counts = [kind IN range(0, 3) | q.counts[kind] + $p.counts[kind]]
WITH q
UNWIND $p.items AS item
MERGE (i:BraidQuarantined {group_id: $p.space, quarantine_id: $p.quarantine, id: item.id})
SET i += item, i.created_at = $p.now
