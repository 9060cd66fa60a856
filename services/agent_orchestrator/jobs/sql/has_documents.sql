-- Whether a space has documents that may be added to the graph now.
select exists (
  select from document where space = $1 and not waits_for_deletion(space, document_id, number)
)
