"""What Lambda tells a function of its invocation."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Context:
    """An invocation with all its time left."""

    function_name: str = "benchmark"
    memory_limit_in_mb: int = 256
    aws_request_id: str = "00000000-0000-0000-0000-000000000000"
    invoked_function_arn: str = "arn:aws:lambda:eu-central-1:123456789012:function:benchmark"

    def get_remaining_time_in_millis(self) -> int:
        """Return what is left of the function's time."""
        return 120_000
