"""CTranslate2, behind the project's own server: what it can do, how it is started, and what it says."""
