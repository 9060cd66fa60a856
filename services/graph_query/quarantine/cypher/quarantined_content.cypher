// Returns an item with its content.
MATCH (i:BraidQuarantined {group_id: $p.space, quarantine_id: $p.quarantine, id: $p.id}) USING INDEX SEEK i:BraidQuarantined(group_id, quarantine_id, id)
RETURN i.kind AS kind, i.content AS content, i.subject AS subject, i.document_id AS document_id, i.text AS text
