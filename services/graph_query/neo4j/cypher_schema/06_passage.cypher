// Passages (what Braid keeps of an episode) by uuid.
CREATE CONSTRAINT braid_passage_uuid IF NOT EXISTS FOR (n:BraidPassage) REQUIRE n.uuid IS UNIQUE
