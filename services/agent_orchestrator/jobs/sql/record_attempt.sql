-- Records how often in a row a single document has failed.
update document set attempts = $2 where number = $1
