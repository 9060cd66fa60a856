-- Chunks of given versions of documents.
select vc.document_id, vc.chunk_id
from unnest($2::text[], $3::integer[]) as u (document_id, version)
cross join lateral (
  select k.document_id, k.chunk_id from version_chunk k
  where k.space = $1 and k.document_id = u.document_id and k.version = u.version offset 0
) vc
