"""Front door of auth: tokens, roles and what each may."""

from leasehold.auth.models import Token, TokenWish
from leasehold.auth.permissions import PERMISSIONS, Permission, Role
from leasehold.auth.service import DEFAULT_ORGANISATION, Tokens, for_request, require, role_wish

__all__ = [
    "DEFAULT_ORGANISATION",
    "PERMISSIONS",
    "Permission",
    "Role",
    "Token",
    "TokenWish",
    "Tokens",
    "for_request",
    "require",
    "role_wish",
]
