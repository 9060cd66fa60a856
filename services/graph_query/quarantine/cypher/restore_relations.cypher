// Restores relations between episodes; returns, by position, those whose ends do not both exist.
UNWIND range(0, size($p.rows) - 1) AS place
WITH place, $p.rows[place] AS row
OPTIONAL MATCH (a:Episodic {group_id: $p.space, uuid: row[0]}) USING INDEX SEEK a:Episodic(group_id, uuid)
OPTIONAL MATCH (b:Episodic {group_id: $p.space, uuid: row[1]}) USING INDEX SEEK b:Episodic(group_id, uuid)
CALL (row, a, b) {
  WITH row, a, b WHERE a IS NOT NULL AND b IS NOT NULL
  MERGE (a)-[r:BRAID_RELATION {type: row[2].type}]->(b)
  ON CREATE SET r = row[2]
}
WITH place WHERE a IS NULL OR b IS NULL
RETURN place ORDER BY place
