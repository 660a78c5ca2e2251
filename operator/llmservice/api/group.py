"""What the API server calls the resource. Apart from its types: who only asks for LLMServices need not load these."""

GROUP = "llmservice.dev"
VERSION = "v1alpha1"
KIND = "LLMService"
PLURAL = "llmservices"
