// An entity's identity: one name and type in a space, however many writers. Queries by name alone add `type >= ''`,
// without which the index behind the constraint cannot serve them.
CREATE CONSTRAINT braid_entity_name IF NOT EXISTS FOR (n:EntityName) REQUIRE (n.group_id, n.name_key, n.type) IS UNIQUE
