-- An HNSW index over the vectors of entities for each dimension that models have. `halfvec` columns without a dimension cannot
-- be indexed, so the index is over a cast, and a space's move to a model of another dimension creates another one.
-- The vectors of deleted entities are deleted, so it has only those of entities that are there.
--
-- No search of a user's memory uses it: those compare all vectors of one user, which is exact, takes some milliseconds for
-- thousands of entities, and finds the rows by the primary key. In an index of all users few neighbors would be the caller's.
-- It serves queries across users and spaces, by roles that pass row-level security (analysis, finding duplicates). They
-- repeat the index's expression and condition:
--   where vector_dims(embedding) = 384 order by embedding::halfvec(384) <=> …
create function index_entity_vectors(p_dimension integer) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  name text := 'memory_entity_vector_hnsw_' || p_dimension;
begin
  -- HNSW over halfvec goes up to 4,000 dimensions.
  if p_dimension not between 1 and 4000 or to_regclass(name) is not null then
    return;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('braid.' || name, 0));
  execute format(
    'create index if not exists %I on memory_entity_vector using hnsw ((embedding::halfvec(%s)) halfvec_cosine_ops)
     with (ef_construction = 128) where vector_dims(embedding) = %s', name, p_dimension, p_dimension);
end $$;

-- Lets migrations see every row, by the scope `schema`: the owner of the tables is subject to row-level security as well.
create policy memory_entity_schema on memory_entity to current_user
  using (current_setting('braid.memory_scope', true) = 'schema');
create policy memory_entity_vector_schema on memory_entity_vector to current_user
  using (current_setting('braid.memory_scope', true) = 'schema');
