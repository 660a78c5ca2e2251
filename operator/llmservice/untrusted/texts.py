"""Any text or bytes, made fit to be kept, logged and shown."""

_KEPT_CONTROLS = "\n\t"
_BLANKS = "\r\v\f\x1c\x1d\x1e\x1f\x85\u2028\u2029"
"""What ends a line for some readers and not for others."""
_INVISIBLE = (
    *(range(0x20), range(0x7F, 0xA0), range(0xAD, 0xAE)),  # controls, and a hyphen that is not shown
    *(range(0x200B, 0x2010), range(0x2028, 0x202F), range(0x2060, 0x2070)),  # without width, or turning the direction
    *(range(0xFEFF, 0xFF00), range(0xFFF9, 0xFFFC), range(0xE0000, 0xE0080)),  # marks and tags
    range(0xD800, 0xE000),  # halves of a letter: no encoding has a word for them
)
_ESCAPES = {code: ascii(chr(code))[1:-1] for codes in _INVISIBLE for code in codes}
_ESCAPES |= dict.fromkeys(map(ord, _BLANKS), " ")
_ESCAPES |= {ord(letter): letter for letter in _KEPT_CONTROLS}
_COLOUR = "\x1b["
_COLOUR_NUMBERS = "0123456789;:?"


def cut(text: str, limit: int) -> str:
    """The first `limit` characters, and how many more there are."""
    left = len(text) - limit
    return text if left <= 0 else f"{text[:limit]}… ({left} more characters)"


def in_a_line(text: str | bytes, limit: int) -> str:
    """What a stranger wrote, fit to be shown: one line of at most `limit` characters, and how many more there were."""
    return cut(" ".join(printable(text).split()), limit)


def printable(text: str | bytes) -> str:
    """The text with nothing in it that steers a terminal, hides, or cannot be encoded; line ends and tabs stay.

    Colours are left out, other controls and what is not UTF-8 are written as escapes.
    """
    shown = text.decode(errors="backslashreplace") if isinstance(text, bytes) else text
    if shown.isprintable():
        return shown
    return _without_colours(shown).translate(_ESCAPES)


def _without_colours(text: str) -> str:
    first, *rest = text.split(_COLOUR)
    return first + "".join(piece.lstrip(_COLOUR_NUMBERS)[1:] for piece in rest)
