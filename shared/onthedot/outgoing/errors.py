"""How sending fails. The texts are kept with the job, so they never hold a header, a body, a query or a secret."""


class Refused(Exception):
    """The request goes where none may go, or has no form; the same request is refused each time."""


class NotDelivered(Exception):
    """The other side did not take it; another attempt may succeed."""
