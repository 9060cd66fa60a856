-- Chunks of documents whose flag `current` does not match the versions in force.
select c.id, c.length, not c.current as wanted
from chunk c
where c.space = $1 and c.document_id = any ($2) and c.current <> exists (
  select from version_chunk vc
  join document_version v
    on v.space = $1 and v.document_id = vc.document_id and v.version = vc.version
  where vc.space = $1 and vc.chunk_id = c.id and v.valid_from <= $3 and v.valid_until > $3)
