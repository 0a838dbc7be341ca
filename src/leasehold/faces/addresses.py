"""Which addresses are the public internet: the only ones a stranger's link may lead us to."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

# What is not to be reached from outside, or stands for something that is not: written out, because what the standard
# library calls private has changed between its versions.
_CLOSED_4 = tuple(
    ip_network(block)
    for block in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared by carriers (CGNAT), and by some clouds for their metadata
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local, and the metadata of most clouds
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # relays between the two protocols
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
# All that is given out so far lies in here. NAT64, IPv4-mapped, private, link-local and multicast ones do not.
_OPEN_6 = ip_network("2000::/3")
_CLOSED_6 = tuple(
    ip_network(block)
    for block in (
        "2001::/23",  # protocol assignments, among them Teredo, which carries an IPv4 address
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, which carries an IPv4 address
        "3fff::/20",  # documentation
    )
)


def is_public(address: str) -> bool:
    """Whether an address, as the resolver writes it, is one of the public internet."""
    try:
        found = ip_address(address)
    except ValueError:  # one with a zone, or none at all
        return False
    match found:
        case IPv4Address():
            return not any(found in block for block in _CLOSED_4)
        case IPv6Address():
            return found.scope_id is None and found in _OPEN_6 and not any(found in block for block in _CLOSED_6)
