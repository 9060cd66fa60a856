-- Locks documents until the transaction ends, creating those that do not exist. The order is by id in code points,
-- independent of the database's collation.
insert into document as d (space, document_id, written_at)
select $1, u.document_id, now() from unnest($2::text[]) as u (document_id)
order by u.document_id collate "C"
on conflict (space, document_id) do update set written_at = excluded.written_at
