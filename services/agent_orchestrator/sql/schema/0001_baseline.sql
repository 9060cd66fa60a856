-- The agent database: jobs with their inputs and failures, documents on their way to the graph, and the queue of turns.

-- What was asked for, in the order it was accepted. An upload is read document by document: `position` of them so far.
create table job (
  id uuid primary key,
  number bigint generated always as identity,
  space text not null,
  user_name text not null,
  request_id text not null,
  kind text not null,
  arguments jsonb not null,
  input_hash text not null,
  size bigint not null default 0,
  state text not null default 'queued' check (state in ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
  position integer not null default 0,
  -- Where the next turn continues in an upload whose documents are lines: the bytes and the lines before, of `read_position`
  -- documents. It reads the upload from its beginning where `position` is another.
  read_offset integer not null default 0,
  read_line integer not null default 0,
  read_position integer not null default 0,
  read boolean not null default false,
  -- Tried again: of the first `reached` documents, only those that failed are read anew.
  reached integer not null default 0,
  -- How often it was taken up since it last went on: what ends a worker again and again is found by it.
  takes integer not null default 0,
  retries integer not null default 0,
  documents_total integer not null default 0,
  documents_searchable integer not null default 0,
  documents_graph_ready integer not null default 0,
  documents_unchanged integer not null default 0,
  documents_failed integer not null default 0,
  chunks_written integer not null default 0,
  waiting_for text not null default '',
  -- Where a job that is no upload goes on, and what it tells when it has ended.
  progress jsonb,
  result jsonb,
  create_time timestamptz not null default now(),
  update_time timestamptz not null default now(),
  start_time timestamptz,
  searchable_time timestamptz,
  graph_ready_time timestamptz,
  end_time timestamptz
);
create unique index job_request on job (space, request_id, input_hash) where request_id <> '';
create index job_list on job (space, number desc);
create index job_unread on job (space, number) where kind = 'upload' and not read and state in ('queued', 'running');
create index job_waiting on job (size) where state in ('queued', 'running');
create index job_ended on job (end_time) where end_time is not null;

-- The bytes of an upload: kept until nothing of it has to be read again.
create table job_input (
  job_id uuid primary key references job (id) on delete cascade,
  data bytea not null
);
alter table job_input alter column data set storage external;

-- Documents that could not be taken, by their place in the upload; place -1 is the reason of a whole job.
create table job_failure (
  job_id uuid not null references job (id) on delete cascade,
  position integer not null,
  space text not null,
  document_id text not null,
  stage text not null,
  reason text not null,
  -- Being tried again: listed no more, unless it fails again.
  again boolean not null default false,
  create_time timestamptz not null default now(),
  primary key (job_id, position)
);
create index job_failure_list on job_failure (space, create_time desc, job_id desc, position desc) where not again;

-- Documents that are searchable and not yet in the graph, in the order they became so.
create table document (
  number bigint generated always as identity primary key,
  space text not null,
  job_id uuid not null,
  position integer not null,
  document_id text not null,
  chunks integer not null,
  -- JSON with its version, see `ingest/pipeline/stored_episodes.py`.
  episodes bytea not null,
  attempts smallint not null default 0,
  -- Deleted meanwhile: what the graph has of it goes instead.
  gone boolean not null default false
);
create index document_next on document (space, number);
create index document_of on document (space, document_id);

-- Deletions keep their place among a space's uploads. A deletion is through the vector tier once it has noted `mark`, the
-- last document that was on its way to the graph then, and through the graph once it has noted `graph`.
create index job_deletion on job (space, number) where kind = 'delete' and state in ('queued', 'running');

-- Finds the jobs of a space that wait for something.
create index job_waiting_for on job (space) where waiting_for <> '';

-- The queue. A turn is the right to work on a space at one stage, or on one job that is not an upload. It is claimed by one
-- worker, which renews its lease; a claim without renewal for a lease may be taken by another worker.
create table turn (
  id bigint generated always as identity primary key,
  stage text not null,
  key text not null,
  -- When it may be claimed.
  ready_time timestamptz not null default now(),
  owner uuid,
  renew_time timestamptz,
  unique (stage, key)
);
create index turn_next on turn (stage, id);

create function notify_turn_waiting() returns trigger
language plpgsql as $$
begin
  notify braid_turn_waiting;
  return null;
end $$;
create trigger turn_waiting after insert on turn for each row execute function notify_turn_waiting();

-- Notifies those who watch jobs, once a transaction.
create function notify_job_changed() returns trigger
language plpgsql as $$
begin
  notify braid_job_changed;
  return null;
end $$;
create trigger job_changed after update on job for each statement execute function notify_job_changed();
