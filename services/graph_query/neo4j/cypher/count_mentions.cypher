// Recounts mentions of entities, for the order of listings; `title`: whether an entity is mentioned only by documents
// that it is the title of.
UNWIND $p.uuids AS uuid
MATCH (n:Entity {uuid: uuid}) USING INDEX SEEK n:Entity(uuid)
MATCH (k:EntityName {entity_uuid: uuid}) USING INDEX SEEK k:EntityName(entity_uuid)
WITH k, -COUNT { (n)<-[:BRAID_MENTIONS]-() } AS rank,
  NOT EXISTS { (n)<-[m:BRAID_MENTIONS]-() WHERE m.kind <> $p.about } AS untold
WITH k, rank, untold AND rank < 0 AS title WHERE coalesce(k.mention_rank, 1) <> rank OR coalesce(k.title, NOT title) <> title
SET k.mention_rank = rank, k.title = title
