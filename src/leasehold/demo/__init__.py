"""Front door of the demo: a leasehold with a simulated world around it, alive within a minute."""

from leasehold.demo.comparing import Task
from leasehold.demo.playing import compare_until_done, play_until_stopped

__all__ = ["Task", "compare_until_done", "play_until_stopped"]
