// Deletes versions; each preceding version takes over the deleted one's end of knowledge, and its mark as the last
// version of a removed fact, with who withdrew or corrected it.
FOREACH (row IN $p.longer |
  MERGE (v:FactVersion {uuid: row.uuid}) SET v.known_until = row.until, v += row.change
  FOREACH (_ IN CASE WHEN row.removed THEN [1] ELSE [] END | SET v:BraidPastFact))
WITH $p.gone AS gone
UNWIND gone AS uuid
MATCH (v:FactVersion {uuid: uuid}) USING INDEX SEEK v:FactVersion(uuid) WHERE v.group_id = $p.space
DETACH DELETE v
