-- Notes how often in a row a document alone has failed.
update document set attempts = $2 where number = $1
