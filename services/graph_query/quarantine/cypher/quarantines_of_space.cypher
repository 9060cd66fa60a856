// A page of the space's quarantines by id, with the number of items that each still has.
MATCH (q:BraidQuarantine) USING INDEX SEEK q:BraidQuarantine(group_id, id) WHERE q.group_id = $p.space AND q.id > $p.after
WITH q ORDER BY q.group_id, q.id LIMIT $p.limit
RETURN q.id AS id, q.created_at AS created_at, q.counts AS counts,
  COUNT { MATCH (i:BraidQuarantined) USING INDEX SEEK i:BraidQuarantined(group_id, quarantine_id, id)
    WHERE i.group_id = $p.space AND i.quarantine_id = q.id AND i.id >= '' } AS items
ORDER BY id
