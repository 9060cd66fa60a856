// Deletes items that were restored.
UNWIND $p.ids AS id
MATCH (i:BraidQuarantined {group_id: $p.space, quarantine_id: $p.quarantine, id: id}) USING INDEX SEEK i:BraidQuarantined(group_id, quarantine_id, id)
DELETE i
