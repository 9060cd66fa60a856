// What deletions removed, by their ids.
CREATE CONSTRAINT braid_deletion IF NOT EXISTS FOR (n:BraidDeletion) REQUIRE (n.group_id, n.id) IS UNIQUE
