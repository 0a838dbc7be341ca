"""Credentials as the simulated providers see them: any will do that are there."""

import base64
import binascii

from starlette.requests import Request


def has_basic(request: Request) -> bool:
    """Whether a name and a password came along."""
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    try:
        name, _, password = base64.b64decode(given, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return False
    return scheme.lower() == "basic" and bool(name and password)


def bearer(request: Request) -> str:
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    return given if scheme.lower() == "bearer" else ""
