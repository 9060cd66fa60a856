-- Sets the language of a space without chunks; returns whether the space has that language now.
select set_language($1, $2)
