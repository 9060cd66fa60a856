// Sentences that put entities together, by uuid.
CREATE CONSTRAINT braid_sentence_uuid IF NOT EXISTS FOR (n:BraidSentence) REQUIRE n.uuid IS UNIQUE
