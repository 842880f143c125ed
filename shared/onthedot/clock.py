"""The only place that reads time or chance; everything else is handed `now`."""

import secrets
from datetime import UTC, datetime

from onthedot.rules.instants import cut


class SystemClock:
    """The machine's clock, and the operating system's randomness."""

    def now(self) -> datetime:
        """Return the time, cut to the millisecond, so never later than it is."""
        return cut(datetime.now(UTC))

    def token(self) -> str:
        """Return 96 random bits as hex, drawn anew at each call, so that no two environments share one."""
        return secrets.token_hex(12)
