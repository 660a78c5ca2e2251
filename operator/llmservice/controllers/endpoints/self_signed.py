"""A certificate for nobody in particular, to standard output: key first, PEM. A program of its own, run as a file.

The library that signs costs its process 10 MiB for good, so the operator's process never imports it.
"""

import sys
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_VALID = timedelta(days=3650)
"""Longer than a pod lives: nobody can check it, so nothing is won by an earlier end."""


def key_and_certificate() -> bytes:
    """A fresh key and a certificate signed by it."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "llmservice-operator")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + _VALID)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("llmservice-operator")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return secret + certificate.public_bytes(pem)


if __name__ == "__main__":
    sys.stdout.buffer.write(key_and_certificate())
