-- Whether a space has documents that may go into the graph now.
select exists (
  select from document where space = $1 and not waits_for_deletion(space, document_id, number)
)
