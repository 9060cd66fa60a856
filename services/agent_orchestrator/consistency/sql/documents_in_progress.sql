-- The given documents that unfinished uploads and deletions may still write or remove.
select told.document_id from unnest($2::text[]) as told (document_id)
where exists (select from document d where d.space = $1 and d.document_id = told.document_id)
   or exists (
     select from job j
     where j.space = $1 and j.state in ('queued', 'running')
       and (j.kind = 'upload' and not j.read and may_bring(j.arguments, told.document_id)
            or j.kind = 'delete' and j.arguments ->> 'document_id' = told.document_id))
