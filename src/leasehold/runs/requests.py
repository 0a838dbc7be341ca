"""What is asked of the broker for an item: one attempt, in the name of its run."""

from collections.abc import Mapping
from typing import Any

from leasehold.ids import show
from leasehold.jobs import CrawlRequest
from leasehold.runs.models import RUN, Run


def request_for(run: Run, job: str, item_type: str, payload: Mapping[str, Any]) -> CrawlRequest:
    return CrawlRequest(
        job_id=job,
        platform=run.platform,
        task_type=item_type,
        payload=dict(payload),
        max_attempts=1,
        run_id=show(RUN, run.id),
    )
