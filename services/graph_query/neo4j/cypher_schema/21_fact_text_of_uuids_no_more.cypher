// The index before this one took each uuid apart at its dashes: ten words for each fact's ends.
DROP INDEX braid_fact_text IF EXISTS
