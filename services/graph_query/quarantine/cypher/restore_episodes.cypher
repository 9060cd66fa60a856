// Sets episodes' times, and whether a language model has read them, to the stored ones.
UNWIND $p.rows AS row
MATCH (e:Episodic {group_id: $p.space, uuid: row.uuid}) USING INDEX SEEK e:Episodic(group_id, uuid)
MATCH (p:BraidPassage {group_id: $p.space, uuid: row.uuid}) USING INDEX SEEK p:BraidPassage(group_id, uuid)
SET e.created_at = row.created_at, e.valid_at = row.valid_at, p.read = row.read
