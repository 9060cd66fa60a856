-- The words of a message, for searches among a user's messages. Null for messages from before: those are computed by the search.
alter table conversation_message add column words tsvector;
