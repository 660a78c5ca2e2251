"""Numbers with their nouns."""


def counted(number: int, noun: str) -> str:
    """1 file, 2 files."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
