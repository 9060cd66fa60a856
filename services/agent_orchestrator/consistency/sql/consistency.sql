-- name: accept_graph
-- Accepts that a space's graph was restored from a backup: from now on its present revision is the highest.
update seen_graph set revision = $2, update_time = now() where space = $1 and revision > $2

-- name: documents_in_progress
-- The given documents that unfinished uploads and deletions may still write or remove.
select told.document_id from unnest($2::text[]) as told (document_id)
where exists (select from document d where d.space = $1 and d.document_id = told.document_id)
   or exists (
     select from job j
     where j.space = $1 and j.state in ('queued', 'running')
       and (j.kind = 'upload' and not j.read and may_bring(j.arguments, told.document_id)
            or j.kind = 'delete' and j.arguments ->> 'document_id' = told.document_id))

-- name: seen_graph
-- The highest recorded revision of a space's graph.
select revision from seen_graph where space = $1
