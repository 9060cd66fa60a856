// What is known of a fact still was a version beside it: now the fact itself has since when. The version of a fact that has
// changed or gone since ends then: when that became known, at the latest with its space's last write.
MATCH (v:FactVersion) WHERE v.known_until = $open
CALL (v) {
  OPTIONAL MATCH ()-[e:RELATES_TO {uuid: v.fact_uuid}]->()
  OPTIONAL MATCH (s:BraidSpace {group_id: v.group_id})
  WITH v, e, CASE WHEN e IS NULL THEN s.last_write.epochSeconds + s.last_write.microsecond / 1000000.0 ELSE e.braid_known_from END AS until
  FOREACH (fact IN CASE WHEN until IS NULL AND e IS NOT NULL THEN [e] ELSE [] END |
    SET fact.braid_known_from = v.known_from, fact.braid_cause = v.episode_uuid)
  FOREACH (past IN CASE WHEN until > v.known_from THEN [v] ELSE [] END | SET past.known_until = until)
  FOREACH (gone IN CASE WHEN until > v.known_from AND e IS NULL THEN [v] ELSE [] END | SET gone:BraidPastFact)
  FOREACH (same IN CASE WHEN until > v.known_from THEN [] ELSE [v] END | DELETE same)
} IN TRANSACTIONS OF 1000 ROWS
