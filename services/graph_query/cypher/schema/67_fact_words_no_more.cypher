// Its like without `braid_words`: words with accents were found by their accents alone.
DROP INDEX braid_fact_words IF EXISTS
