// Deletes some items of a quarantine for good, and the quarantine itself when it has no item left.
OPTIONAL MATCH (q:BraidQuarantine {group_id: $p.space, id: $p.quarantine}) USING INDEX SEEK q:BraidQuarantine(group_id, id)
CALL () {
  MATCH (i:BraidQuarantined) USING INDEX SEEK i:BraidQuarantined(group_id, quarantine_id, id)
  WHERE i.group_id = $p.space AND i.quarantine_id = $p.quarantine AND i.id >= ''
  WITH i LIMIT $p.limit
  WITH i, i.kind AS kind
  DELETE i
  RETURN collect(kind) AS kinds
}
FOREACH (_ IN CASE WHEN size(kinds) < $p.limit AND q IS NOT NULL THEN [1] ELSE [] END | DELETE q)
RETURN kinds
