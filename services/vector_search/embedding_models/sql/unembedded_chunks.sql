-- Chunks without a vector of a model.
select id, content from unembedded_chunks($2, $1, $3, $4)
