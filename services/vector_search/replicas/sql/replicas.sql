-- name: ping
-- The number of the schema's last migration; fails without a schema.
select max(number) from schema_migration

-- name: log_position
-- Bytes of the write-ahead log that the server has written (a primary) or replayed (a replica).
select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() - '0/0'::pg_lsn
  else pg_current_wal_lsn() - '0/0'::pg_lsn end::bigint

-- name: space_revision
-- The space's revision, null for a space that was never written; read from the primary and a replica to compare both.
select revision from space_stats where space = $1
