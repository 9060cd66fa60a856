// What is known of a fact still was a version beside it: now the fact itself has since when.
MATCH (v:FactVersion) WHERE v.known_until = $open
CALL (v) {
  OPTIONAL MATCH ()-[e:RELATES_TO {uuid: v.fact_uuid}]->()
  FOREACH (fact IN CASE WHEN e IS NULL THEN [] ELSE [e] END | SET fact.braid_known_from = v.known_from, fact.braid_cause = v.episode_uuid)
  DELETE v
} IN TRANSACTIONS OF 1000 ROWS
