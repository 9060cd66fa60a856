-- The page of a chunk: stored with its place in a version, and told with it by every search.
alter table version_chunk add column page integer not null default 0;
