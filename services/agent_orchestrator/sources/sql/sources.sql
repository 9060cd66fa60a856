-- name: delete_source
-- Forgets a source; returns it as it was.
delete from source where space = $1 and name = $2 returning *

-- name: get_source
-- A source of a space.
select * from source where space = $1 and name = $2

-- name: list_sources
-- All sources of a space by name.
select * from source where space = $1 order by name collate "C"

-- name: put_source
-- Sets what a source is, unless it would be one more than a space may have.
insert into source (space, name, kind, root, include, exclude, every_minutes, credential_variable, with_history, paused)
select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10
where exists (select from source where space = $1 and name = $2) or (select count(*) from source where space = $1) < $11
on conflict (space, name) do update set kind = excluded.kind, root = excluded.root, include = excluded.include,
  exclude = excluded.exclude, every_minutes = excluded.every_minutes, credential_variable = excluded.credential_variable,
  with_history = excluded.with_history, paused = excluded.paused
returning *

-- name: record_source_run
-- Notes how the last run of a source ended.
update source set last_run = $3::jsonb || jsonb_build_object('end_time', now()) where space = $1 and name = $2 returning *
