// Sets the citations of these facts and of every fact that these documents claim: the claiming episodes, and for each
// claiming document its episodes that name both ends of the fact, or else its best episode.
CALL () {
  UNWIND $p.documents AS document_id
  MATCH (c:FactClaim {group_id: $p.space, claimant: document_id}) USING INDEX SEEK c:FactClaim(group_id, claimant, fact_uuid) WHERE c.fact_uuid >= ''
  RETURN c.fact_uuid AS uuid
  UNION
  UNWIND $p.facts AS uuid
  RETURN uuid
}
MATCH (a)-[e:RELATES_TO {uuid: uuid}]->(b) USING INDEX SEEK e:RELATES_TO(uuid)
CALL (a, b, uuid) {
  MATCH (c:FactClaim {fact_uuid: uuid}) USING INDEX SEEK c:FactClaim(fact_uuid)
  MATCH (d:Document {uuid: c.document_uuid})-[:HAS_EPISODE]->(p:Episodic) USING INDEX SEEK d:Document(uuid)
  WITH a, b, d, p, COUNT { (p)-[:BRAID_MENTIONS]->(n) WHERE n = a OR n = b } AS named ORDER BY named DESC, p.uuid
  WITH a, b, d, collect({uuid: p.uuid, named: named}) AS found
  WITH [f IN found WHERE f.named = CASE WHEN a = b THEN 1 ELSE 2 END | f.uuid] AS both, found[0].uuid AS best
  UNWIND CASE WHEN size(both) > 0 THEN both ELSE [best] END AS cited
  RETURN collect(DISTINCT cited) AS documented
}
CALL (uuid, documented) {
  MATCH (c:FactClaim {fact_uuid: uuid}) USING INDEX SEEK c:FactClaim(fact_uuid) WHERE c.episode_uuid IS NOT NULL
  RETURN collect(c.episode_uuid) AS claiming
}
CALL (documented, claiming) {
  UNWIND documented + claiming AS cited
  WITH DISTINCT cited ORDER BY cited
  RETURN collect(cited) AS cited
}
SET e.episodes = cited
