"""JSON that a YAML reader takes for the same value: the API server reads a server-side apply as YAML.

Its reader (go-yaml, `yaml_parser_update_buffer`) refuses control characters that JSON allows inside texts, and takes
U+0085, U+2028 and U+2029 for the end of a line. Escaped they are the same in both.
"""

import re

_DELETE = b"\x7f"
_UNREADABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def as_yaml(json: bytes) -> bytes:
    """The same JSON with every such character escaped; nearly always the very same bytes."""
    if json.isascii() and _DELETE not in json:
        return json
    return _UNREADABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", json.decode()).encode()
