-- Gives a space without chunks another language; whether it has that language now.
select set_language($1, $2)
