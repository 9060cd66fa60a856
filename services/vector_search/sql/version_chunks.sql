-- Chunks of given versions of documents.
select vc.document_id, vc.chunk_id
from unnest($2::text[], $3::integer[]) as u (document_id, version)
join version_chunk vc on vc.space = $1 and vc.document_id = u.document_id and vc.version = u.version
