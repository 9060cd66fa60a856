-- Vectors of queries, for deployments that have the tier remember them (BRAID_VECTOR_STORED_EMBEDDINGS).

create table query_embedding (
  space text collate "C" not null,
  -- SHA-256 of space, model and text: no text is kept.
  digest bytea not null check (length(digest) = 32),
  -- 32-bit floats, least significant byte first: the vector exactly as the model gave it.
  vector bytea not null,
  used_at timestamptz not null default now(),
  primary key (space, digest)
) partition by hash (space);
create index query_embedding_used on query_embedding (space, used_at);

do $$
begin
  for part in 0..7 loop
    execute format('create table %I partition of query_embedding for values with (modulus 8, remainder %s)',
                   'query_embedding_p' || part, part);
    execute format('revoke all on %I from braid_reader', 'query_embedding_p' || part);
  end loop;
end $$;
-- Only the writers' pool asks for it: a use is noted.
revoke all on query_embedding from braid_reader;
