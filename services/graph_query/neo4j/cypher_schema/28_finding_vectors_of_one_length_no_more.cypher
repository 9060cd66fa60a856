// The index before this one took vectors of one length alone: that of the model which was configured when it was made.
DROP INDEX braid_finding_similarity IF EXISTS
