"""JSON that a YAML reader takes for the same value: the API server reads a server-side apply as YAML.

Its reader (go-yaml, `yaml_parser_update_buffer`) refuses control characters that JSON allows inside texts, and takes
U+0085, U+2028 and U+2029 for the end of a line. Escaped they are the same in both.
"""

_DELETE = b"\x7f"
_UNREADABLE = (*range(0x7F, 0xA0), 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF)
_ESCAPES = {code: f"\\u{code:04x}" for code in _UNREADABLE}


def as_yaml(json: bytes) -> bytes:
    """The same JSON with every such character escaped; nearly always the very same bytes."""
    if json.isascii() and _DELETE not in json:
        return json
    return json.decode().translate(_ESCAPES).encode()
