// Sets all versions that contain passages, and the passages' own starts.
UNWIND $p.rows AS row
MATCH (p:BraidPassage {uuid: row[0], group_id: $p.space}) USING INDEX SEEK p:BraidPassage(uuid)
SET p.starts = row[1], p.own_start = row[2]
