"""The rerank process: a second look at retrieved passages."""
