// Entities by uuid.
CREATE CONSTRAINT braid_entity_uuid IF NOT EXISTS FOR (n:Entity) REQUIRE n.uuid IS UNIQUE
