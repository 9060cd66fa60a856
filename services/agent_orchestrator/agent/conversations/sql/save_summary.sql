-- Notes what conversation $1 was about up to message $3, unless a later summary is there already.
update conversation set summary = $2, summarized_through = $3 where id = $1 and summarized_through < $3
