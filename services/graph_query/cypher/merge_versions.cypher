// Takes versions out of what was known, and lets those before them be known as long.
FOREACH (row IN $p.longer | MERGE (v:FactVersion {uuid: row[0]}) SET v.known_until = row[1])
WITH $p.gone AS gone
UNWIND gone AS uuid
MATCH (v:FactVersion {uuid: uuid}) WHERE v.group_id = $p.space
DETACH DELETE v
