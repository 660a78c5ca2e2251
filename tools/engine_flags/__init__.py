"""Records which options each version of an engine knows, for llmservice/catalog/flags/.

Belongs here: reading options out of what an engine publishes (wheels, sources), without importing or running it.
Does not: rows of the catalogue, or anything the operator needs at run time.
"""
