"""What can go wrong in a way the person at the keyboard can mend."""


class SandboxError(Exception):
    """A step failed; the message says which one and ends with the way out."""
