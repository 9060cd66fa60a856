-- Whether unfinished uploads may add a document, or it waits for the graph.
select exists (
  select from job
  where space = $1 and kind = 'upload' and not read and state in ('queued', 'running') and may_bring(arguments, $2)
) or exists (select from document where space = $1 and document_id = $2)
