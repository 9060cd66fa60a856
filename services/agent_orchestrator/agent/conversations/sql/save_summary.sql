-- Stores the summary of conversation $1 up to message $3, unless a later summary exists already.
update conversation set summary = $2, summarized_through = $3 where id = $1 and summarized_through < $3
