// A page of a quarantine's items, by id: an id begins with its kind, in the order in which kinds are restored.
MATCH (i:BraidQuarantined) USING INDEX SEEK i:BraidQuarantined(group_id, quarantine_id, id)
WHERE i.group_id = $p.space AND i.quarantine_id = $p.quarantine AND i.id > $p.after
WITH i ORDER BY i.group_id, i.quarantine_id, i.id LIMIT $p.limit
RETURN i.id AS id, i.kind AS kind, i.subject AS subject, i.document_id AS document_id, i.text AS text, i.created_at AS created_at
ORDER BY id
