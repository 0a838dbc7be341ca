"""A collector with httpx: an account, its cookies, and threads that are due; everything goes back at the end.

LEASEHOLD_URL=… LEASEHOLD_TOKEN=… python examples/board_httpx.py
"""

import os

import httpx

from leasehold.client import HeldAccount, Leasehold, SeedGrant, jar_from, with_jar

SITE = "board"


def read(web: httpx.Client, lease: HeldAccount, url: str) -> httpx.Response:
    """A page, signing in where that is asked."""
    page = web.get(url)
    if page.url.path == "/login":
        form = {"username": lease.username, "password": lease.secret["password"], "next": httpx.URL(url).path}
        page = web.post(page.url.copy_with(query=None), data=form)
    if page.status_code == 403:
        lease.blocked("the board says so")
    page.raise_for_status()
    return page


def visit(lh: Leasehold, web: httpx.Client, lease: HeldAccount, grant: SeedGrant) -> None:
    page = read(web, lease, str(grant.seed.url))
    lh.captures.upload(
        site=SITE, url=str(grant.seed.url), files={"page.html": page.content}, seed_id=grant.seed.id, lease_id=lease.id
    )
    posts = page.text.count("<article")
    lh.seeds.release(grant.id, found=posts - (grant.seed.cursor or 0), cursor=posts)
    print(f"{lease.username} read {grant.seed.url}: {posts} posts")


def main() -> None:
    with (
        Leasehold(os.environ["LEASEHOLD_URL"], os.environ["LEASEHOLD_TOKEN"]) as lh,
        lh.account(SITE, wait=60, include_session=True) as lease,
        lh.session(lease) as session,
        httpx.Client(
            cookies=jar_from(session.storage_state), headers={"User-Agent": "board-httpx"}, follow_redirects=True
        ) as web,
    ):
        for _ in range(5):
            lease.check()  # raises LeaseLost as soon as the account may be somebody else's
            found = lh.seeds.acquire(owner=lease.owner, site=SITE)
            if not found.leases:
                break
            visit(lh, web, lease, found.leases[0])
        session.save(with_jar(session.storage_state, web.cookies), health="ok")


if __name__ == "__main__":
    main()
