// Notes all versions that passages stand in, and since when they hold by themselves.
UNWIND $p.rows AS row
MATCH (p:BraidPassage {group_id: $p.space, uuid: row[0]}) USING INDEX SEEK p:BraidPassage(group_id, uuid)
SET p.starts = row[1], p.own_start = row[2]
