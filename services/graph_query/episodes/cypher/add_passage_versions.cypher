// Sets all versions that contain passages, and the passages' own starts.
UNWIND $p.rows AS row
MATCH (p:BraidPassage {group_id: $p.space, uuid: row[0]}) USING INDEX SEEK p:BraidPassage(group_id, uuid)
SET p.starts = row[1], p.own_start = row[2]
