-- A document's version in force with the ids of its chunks in order.
select v.document_id, v.title, v.source, v.metadata, v.version, v.valid_from, v.known_from, v.chunk_count,
       array(select vc.chunk_id from version_chunk vc
             where vc.space = $1 and vc.document_id = $2 and vc.version = v.version
             order by vc.ordinal) as chunk_ids
from document_version v
where v.space = $1 and v.document_id = $2 and v.valid_from <= now() and v.valid_until > now()
