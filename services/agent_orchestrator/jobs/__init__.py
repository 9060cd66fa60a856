"""Durable jobs: accepted in one transaction with their input, processed in turns, ended with a result or a reason.

PostgreSQL is the queue. It holds *turns*, not documents: one for each space and stage with work to do, and one for each
job that is not an upload. A worker that claims a space's turn processes the space's waiting documents, in order and in
batches that span jobs, then requests the next turn behind those of other spaces. So one space's million documents do
not delay another space's single one, each space keeps its order, spaces run in parallel, and many small uploads cost as
little as a large one.
"""
