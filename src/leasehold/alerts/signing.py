"""How whoever receives an alert can tell that it came from here, and when."""

import hashlib
import hmac

HEADER = "Leasehold-Signature"


def signature(secret: str, now_s: int, body: bytes) -> str:
    """`t=…,v1=…`: the time, and the HMAC-SHA256 of that time, a dot and the body. An old one can be refused."""
    signed = hmac.new(secret.encode(), f"{now_s}.".encode() + body, hashlib.sha256)
    return f"t={now_s},v1={signed.hexdigest()}"
