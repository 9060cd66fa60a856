-- Documents whose version in force has the given content hash, and since when that holds.
select v.document_id, v.valid_from
from unnest($2::text[], $3::text[]) as u (document_id, content_hash)
cross join lateral (
  select d.document_id, d.valid_from from document_version d
  where d.space = $1 and d.document_id = u.document_id
    and d.content_hash = u.content_hash and d.valid_from <= now() and d.valid_until > now()
  offset 0
) v
order by v.document_id
