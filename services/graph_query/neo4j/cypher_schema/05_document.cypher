// Documents by uuid.
CREATE CONSTRAINT braid_document_uuid IF NOT EXISTS FOR (n:Document) REQUIRE n.uuid IS UNIQUE
