// Before braid_name_by_mentions: names had no number of mentions. Those of a title have kind 3.
MATCH (k:EntityName) WHERE k.mention_rank IS NULL
CALL (k) {
  MATCH (n:Entity {uuid: k.entity_uuid})
  WITH k, -COUNT { (n)<-[:BRAID_MENTIONS]-() } AS rank, NOT EXISTS { (n)<-[m:BRAID_MENTIONS]-() WHERE m.kind <> 3 } AS untold
  SET k.mention_rank = rank, k.title = untold AND rank < 0
} IN TRANSACTIONS OF 1000 ROWS
