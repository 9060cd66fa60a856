-- Adds the evidence of one relationship to another.
update memory_relationship set confidence = greatest(confidence, $4), mention_count = mention_count + $5
where space = $1 and user_id = $2 and id = $3
