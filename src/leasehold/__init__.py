"""leasehold: accounts, seeds, sessions and jobs on leases. `leasehold.client` is the SDK."""

__version__ = "0.1.0"
