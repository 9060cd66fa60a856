// Notes all versions that passages stand in, and since when they hold by themselves.
UNWIND $p.rows AS row
MATCH (p:BraidPassage {uuid: row[0], group_id: $p.space}) USING INDEX SEEK p:BraidPassage(uuid)
SET p.starts = row[1], p.own_start = row[2]
