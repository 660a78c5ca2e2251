"""How well an engine profile that `llmservice bench` saved predicts other loads on the same engine."""
