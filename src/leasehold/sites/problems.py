"""Why something about a site is refused."""

from leasehold.problems import Problem


class SiteUnknown(Problem):
    """No site of your organisation has this slug. `GET /v2/sites` lists them."""

    status, title = 404, "Site unknown"


class SiteExists(Problem):
    """A site with this slug is there already. Choose another slug, or change that one."""

    status, title = 409, "Site exists"


class SiteInUse(Problem):
    """The site still has things that would be lost with it; `holds` counts them. Remove those first."""

    status, title = 409, "Site in use"


class AddressRefused(Problem):
    """A site cannot live at this address.

    `reason` says why: `host-syntax`, `ip-literal`, `single-label`, `public-suffix`, `special-use`, `dns-length`,
    `prefix-syntax`, `query`, `fragment`, or `another-site` when a site named in `site` lives there now.
    """

    status, title = 422, "Address refused"
