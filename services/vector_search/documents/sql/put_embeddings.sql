-- Stores vectors of new chunks in their model's table.
select put_embeddings($1, $2, $3, $4, $5)
