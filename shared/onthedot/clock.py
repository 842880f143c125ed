"""Time and chance are read here and nowhere else; all other code is told."""

import secrets
import time
from datetime import UTC, datetime, timedelta

from onthedot.rules.instants import cut


class SystemClock:
    """The machine's clock, and the operating system's randomness."""

    def now(self) -> datetime:
        """Return the time, cut to the millisecond, so never later than it is."""
        return cut(datetime.now(UTC))

    def token(self) -> str:
        """Return 96 random bits as hex, drawn anew at each call, so that no two environments share one."""
        return secrets.token_hex(12)

    def chance(self) -> float:
        """Return a random number in `[0, 1)`."""
        return secrets.randbelow(1_000_000) / 1_000_000

    def pause(self) -> None:
        """Wait for 10 to 50 ms, by chance, so that those who met do not meet again."""
        time.sleep(0.01 + secrets.randbelow(40) / 1000)

    def wait(self, span: timedelta) -> None:
        """Wait for so long, and no less; a clock that is set back meanwhile makes it no longer."""
        time.sleep(span.total_seconds())
