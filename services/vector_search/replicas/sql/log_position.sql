-- Bytes of the write-ahead log that the server has written (a primary) or replayed (a replica).
select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() - '0/0'::pg_lsn
  else pg_current_wal_lsn() - '0/0'::pg_lsn end::bigint
