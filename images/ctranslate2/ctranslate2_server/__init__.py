"""An OpenAI-compatible server for decoder models in CTranslate2's format, one model for each process."""

__version__ = "0.1.0"
