-- Spaces, documents with versions in time, chunks, and the BM25 tables; hash-partitioned by space.
-- Roles braid_writer and braid_reader must exist; the extension needs a superuser where it is not there yet.
create extension if not exists vector;

grant usage on schema public to braid_writer, braid_reader;
grant select on schema_migration, schema_function_file to braid_writer, braid_reader;
revoke insert, update, delete on schema_migration, schema_function_file from braid_writer;
alter default privileges in schema public grant select, insert, update, delete on tables to braid_writer;
alter default privileges in schema public grant select on tables to braid_reader;

-- Embedding models by name and dimension: what one space calls by a name must not decide the length of vectors for all others.
-- Each has two tables of vectors, embedding_<id> and embedding_<id>_unindexed, made by register_model.
create table model (
  id smallint generated always as identity primary key,
  name text not null,
  -- HNSW over halfvec goes up to 4,000 dimensions.
  dimension integer not null check (dimension between 1 and 4000),
  created_at timestamptz not null default now(),
  -- The space that registered it: one space may register only so many.
  registered_by text collate "C",
  unique (name, dimension)
);
-- Models and their tables are created by register_model alone.
revoke insert, update, delete on model from braid_writer;

-- One row a space: its model, its revision, and the BM25 statistics of its current chunks.
-- Writers update it last, so that it is locked for the shortest time.
create table space_stats (
  space text collate "C" primary key check (space ~ '^[A-Za-z0-9_-]{1,64}$'),
  model_id smallint references model,
  language regconfig not null default 'english',
  revision bigint not null default 0,
  documents bigint not null default 0,
  chunks bigint not null default 0,
  n bigint not null default 0,
  total bigint not null default 0,
  -- When a version with a valid time in the future comes into force; from then on the flags `current` are
  -- stale until the next write of the space, and searches go by the versions' times instead.
  next_change timestamptz not null default 'infinity',
  created_at timestamptz not null default now(),
  -- Until when writes that would store chunks wait, so that the vectors of a model that is being added catch up with them.
  writes_held_until timestamptz not null default '-infinity'
) with (fillfactor = 50);
create index space_stats_next_change on space_stats (next_change) where next_change < 'infinity';

-- Models whose vectors a space has in addition to its own model's: being added, or left over.
create table space_model (
  space text collate "C" not null,
  model_id smallint not null references model,
  primary key (space, model_id)
);

create table document (
  space text collate "C" not null,
  document_id text collate "C" not null,
  written_at timestamptz not null,
  primary key (space, document_id)
) partition by hash (space);

-- A version holds at t when valid_from <= t < valid_until. A later version closes an earlier one and never
-- replaces it, so what was known at any time follows from valid_from and known_from.
create table document_version (
  space text collate "C" not null,
  document_id text collate "C" not null,
  version integer not null,
  valid_from timestamptz not null,
  valid_until timestamptz not null,
  content_hash text collate "C" not null,
  title text not null,
  source text not null,
  metadata jsonb not null,
  chunk_count integer not null,
  known_from timestamptz not null,
  -- Its valid time was in the future when it was written, and the flags `current` do not reflect it yet.
  pending boolean not null,
  primary key (space, document_id, version),
  unique (space, document_id, valid_from),
  check (valid_from < valid_until)
) partition by hash (space);
create index document_version_time on document_version (space, valid_from);
-- Versions that ended, by when: those that held at a recent time and hold no longer are few.
create index document_version_end on document_version (space, valid_until) where valid_until < 'infinity';
create index document_version_pending on document_version (space, valid_from) where pending;
create index document_version_metadata on document_version using gin (metadata jsonb_path_ops);

create table version_chunk (
  space text collate "C" not null,
  document_id text collate "C" not null,
  version integer not null,
  ordinal integer not null,
  chunk_id uuid not null,
  start_char integer not null,
  end_char integer not null,
  -- The page of the original; 0 where it has none.
  page integer not null default 0,
  -- Since when the chunk itself holds, such as a message of a thread. Null: since the version does.
  valid_from timestamptz,
  primary key (space, document_id, version, ordinal)
) partition by hash (space);
create index version_chunk_chunk on version_chunk (space, chunk_id);

-- `title` is that of the document's latest version, by valid time, that has the chunk: `tsv` and the vectors are of
-- title and content. `length` is the number of lexeme positions in `tsv`; `current` says whether the document's version
-- in force has the chunk.
create table chunk (
  space text collate "C" not null,
  id uuid not null,
  document_id text collate "C" not null,
  title text not null,
  content text not null,
  tsv tsvector not null,
  length integer not null,
  current boolean not null,
  primary key (space, id)
) partition by hash (space);
create index chunk_document on chunk (space, document_id);

-- One row a lexeme of a chunk; the key's index answers both "chunks of a lexeme" and "this lexeme in this chunk".
create table posting (
  space text collate "C" not null,
  lexeme text collate "C" not null,
  chunk_id uuid not null,
  tf smallint not null,
  length integer not null,
  current boolean not null,
  primary key (space, lexeme, chunk_id) include (tf, length, current)
) partition by hash (space);

-- `df` counts current chunks (the BM25 statistic), `postings` all of them (the cost of reading the lexeme).
create table term (
  space text collate "C" not null,
  lexeme text collate "C" not null,
  df bigint not null,
  postings bigint not null,
  primary key (space, lexeme)
) partition by hash (space);

do $$
declare
  parent text;
begin
  foreach parent in array array['document', 'document_version', 'version_chunk', 'chunk', 'posting', 'term'] loop
    for part in 0..7 loop
      execute format('create table %I partition of %I for values with (modulus 8, remainder %s)',
                     parent || '_p' || part, parent, part);
    end loop;
  end loop;
end $$;

do $$
begin
  for part in 0..7 loop
    -- Updated in place by every write: room on the page keeps those updates out of the index.
    execute format('alter table %I set (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05)', 'term_p' || part);
    -- Reads of postings are index-only where the visibility map is fresh.
    execute format('alter table %I set (autovacuum_vacuum_insert_scale_factor = 0.05)', 'posting_p' || part);
  end loop;
end $$;

-- Vectors of queries, for deployments that store them (BRAID_VECTOR_STORED_EMBEDDINGS).
create table query_embedding (
  space text collate "C" not null,
  -- SHA-256 of space, model and text: no text is kept.
  digest bytea not null check (length(digest) = 32),
  -- 32-bit floats, least significant byte first: the vector exactly as the model returned it.
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
-- Only the writers' pool reads it, since each use is recorded.
revoke all on query_embedding from braid_reader;

-- What named deletions removed, so that one that is sent again after a crash returns the same.
create table deletion (
  space text collate "C" not null,
  deletion_id uuid not null,
  versions integer not null,
  chunks integer not null,
  deleted_at timestamptz not null default now(),
  primary key (space, deletion_id)
);
create index deletion_age on deletion (space, deleted_at);
