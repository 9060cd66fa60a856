-- Locks documents until the transaction ends, in the order of their ids whatever the database's own order of text is, creating
-- those that do not exist.
insert into document as d (space, document_id, written_at)
select $1, u.document_id, now() from unnest($2::text[]) as u (document_id)
order by u.document_id collate "C"
on conflict (space, document_id) do update set written_at = excluded.written_at
