-- Documents whose version in force has the given content hash, and since when that holds.
select v.document_id, v.valid_from
from unnest($2::text[], $3::text[]) as u (document_id, content_hash)
cross join lateral (
  -- By the key alone: with the times, an index of them may look as good before statistics are there.
  select d.document_id, d.content_hash, d.valid_from, d.valid_until from document_version d
  where d.space = $1 and d.document_id = u.document_id
  offset 0
) v
where v.content_hash = u.content_hash and v.valid_from <= now() and v.valid_until > now()
order by v.document_id
