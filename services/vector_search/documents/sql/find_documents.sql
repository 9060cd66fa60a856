-- Which of the given documents are stored, in any version.
select d.document_id from document d where d.space = $1 and d.document_id = any ($2::text[]) order by d.document_id
