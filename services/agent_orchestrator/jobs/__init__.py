"""Durable jobs: accepted in one transaction with their raw input, worked on in turns, ended or listed with a reason.

PostgreSQL is the queue. It holds *turns*, not documents: one for each space and stage with work to do, one for each job
that is not an upload. A worker that claims a space's turn works through what waits there, in order and in batches that
cross jobs, then requests the next turn behind those of other spaces. So one space's million documents do not delay
another's single one, a space keeps its order, spaces run in parallel, and many small uploads
cost as little as a large one.
"""
