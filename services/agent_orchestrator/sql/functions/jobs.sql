-- The document that an upload brings, where its request names one; null for uploads of several, which name their own.
create or replace function named_document(p_upload jsonb) returns text
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

-- The number of a space's first deletion that is not through the vector tier, or of the space's own: uploads after it wait.
create or replace function first_deletion(p_space text) returns bigint
language sql stable as $$
  select coalesce(min(number), 9223372036854775807) from job
  where space = p_space and kind in ('delete', 'delete_space') and state in ('queued', 'running') and progress is null
$$;

-- Whether a document on its way to the graph waits for its deletion there: it was accepted after it.
create or replace function waits_for_deletion(p_space text, p_document text, p_number bigint) returns boolean
language sql stable as $$
  select exists (
    select from job
    where space = p_space and kind = 'delete' and state in ('queued', 'running')
      and arguments ->> 'document_id' = p_document and p_number > (progress ->> 'mark')::bigint
      and progress -> 'graph' is null)
$$;
