-- The document that an upload brings, where its request names one; null for uploads of several, which name their own.
create function named_document(p_upload jsonb) returns text
language sql immutable as $$
  select case
    when p_upload ->> 'content_type'
      in ('application/jsonl', 'application/mbox', 'application/vnd.braid.messages+jsonl') then null
    else coalesce(nullif(p_upload ->> 'document_id', ''), nullif(p_upload ->> 'source', ''))
  end
$$;

-- Whether an upload may bring a document: it names it, or does not say which it brings.
create or replace function may_bring(p_upload jsonb, p_document text) returns boolean
language sql immutable as $$
  select coalesce(named_document(p_upload) = p_document, true)
$$;
