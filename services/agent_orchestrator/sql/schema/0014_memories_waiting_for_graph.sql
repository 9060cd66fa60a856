-- What the graph does not have of a memory yet, because it was too busy while the caller waited: its episode and these relations,
-- each an encoded ChunkRelationInput. Null if the graph has all of it.
alter table memory add column waiting_relations bytea[];
create index memory_waiting_for_graph on memory (space, user_id, create_time) where waiting_relations is not null;
