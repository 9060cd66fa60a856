-- Whether unfinished uploads may bring a document, or it is on its way to the graph.
select exists (
  select from job
  where space = $1 and kind = 'upload' and not read and state in ('queued', 'running') and may_bring(arguments, $2)
) or exists (select from document where space = $1 and document_id = $2)
