-- Documents whose version in force has the given content hash, and since when it has been valid.
select v.document_id, v.valid_from
from unnest($2::text[], $3::text[]) as u (document_id, content_hash)
cross join lateral (
  -- By the key alone: before statistics exist, an index on the times may look equally good to the planner.
  select d.document_id, d.content_hash, d.valid_from, d.valid_until from document_version d
  where d.space = $1 and d.document_id = u.document_id
  offset 0
) v
where v.content_hash = u.content_hash and v.valid_from <= now() and v.valid_until > now()
order by v.document_id
