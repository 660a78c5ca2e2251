"""TabbyAPI, the server of ExLlamaV3."""
