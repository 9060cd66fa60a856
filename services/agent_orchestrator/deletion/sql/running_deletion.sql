-- The unfinished deletion of a document, unless an upload that may add the document was accepted after it.
select * from job d
where space = $1 and kind = 'delete' and state in ('queued', 'running') and arguments ->> 'document_id' = $2
  and not exists (
    select from job u
    where u.space = $1 and u.kind = 'upload' and u.number > d.number and may_bring(u.arguments, $2))
order by number desc limit 1
