"""Makes expressions by chance: all that the grammars allow, and often what is rare."""

from hypothesis import strategies as st

from onthedot.rules.fields import DATE, HOUR, MINUTE, MONTH, WEEKDAY, Form


def crons() -> st.SearchStrategy[str]:
    """Return cron expressions, some of which match no date."""
    return st.tuples(*map(fields, (MINUTE, HOUR, DATE, MONTH, WEEKDAY))).map(" ".join)


def fields(form: Form) -> st.SearchStrategy[str]:
    """Return what a field may hold."""
    items = st.lists(st.one_of(_values(form), _ranges(form), _steps(form), _marks(form)), min_size=1, max_size=3)
    return st.just("*") | _steps(form) | items.map(",".join)


def _values(form: Form) -> st.SearchStrategy[str]:
    numbers = st.integers(form.low, form.high).map(str)
    return numbers | st.sampled_from(sorted(form.names)) if form.names else numbers


def _ranges(form: Form) -> st.SearchStrategy[str]:
    pairs = st.tuples(st.integers(form.low, form.high), st.integers(form.low, form.high))
    plain = pairs.map(lambda pair: f"{min(pair)}-{max(pair)}")
    return plain | st.tuples(plain, st.integers(1, 40)).map(lambda pair: f"{pair[0]}/{pair[1]}")


def _steps(form: Form) -> st.SearchStrategy[str]:
    return st.tuples(st.just("*") | _values(form), st.integers(1, 70)).map(lambda pair: f"{pair[0]}/{pair[1]}")


def _marks(form: Form) -> st.SearchStrategy[str]:
    if form is DATE:
        return st.sampled_from(["L", "LW"]) | st.integers(1, 31).map("{}W".format)
    if form is WEEKDAY:
        return _values(form).map("{}L".format) | st.tuples(_values(form), st.integers(1, 5)).map(
            lambda pair: f"{pair[0]}#{pair[1]}"
        )
    return _values(form)


@st.composite
def rrules(draw: st.DrawFn) -> str:
    """Return recurrence rules that RFC 5545 allows, some of which match no date."""
    freq = draw(st.sampled_from(["DAILY", "WEEKLY", "MONTHLY", "YEARLY"]))
    parts = {"FREQ": freq, "INTERVAL": str(draw(st.integers(1, 5) | st.integers(1, 40)))}
    if draw(st.booleans()):
        parts["BYMONTH"] = draw(_numbers(1, 12))
    if draw(st.integers(0, 3)) == 0 and freq != "WEEKLY":
        parts["BYMONTHDAY"] = draw(_numbers(-31, 31))
    if draw(st.booleans()):
        parts["BYDAY"] = draw(_weekdays(5 if freq == "MONTHLY" or "BYMONTH" in parts else 53, freq))
    if draw(st.booleans()) and len(parts) > 2:
        parts["BYSETPOS"] = draw(_numbers(-5, 5))
    if draw(st.booleans()):
        parts["WKST"] = draw(st.sampled_from(["MO", "SU", "WE"]))
    if draw(st.booleans()):
        parts["COUNT"] = str(draw(st.integers(1, 30)))
    return ";".join(f"{name}={value}" for name, value in parts.items())


def _numbers(low: int, high: int) -> st.SearchStrategy[str]:
    numbers = st.integers(low, high).filter(bool).map(str)
    return st.lists(numbers, min_size=1, max_size=4, unique=True).map(",".join)


def _weekdays(most: int, freq: str) -> st.SearchStrategy[str]:
    names = st.sampled_from(["MO", "TU", "WE", "TH", "FR", "SA", "SU"])
    numbered = st.tuples(st.integers(-most, most).filter(bool), names).map(lambda pair: f"{pair[0]}{pair[1]}")
    plain, counted = (st.lists(each, min_size=1, max_size=4, unique=True) for each in (names, numbered))
    mixed = st.lists(names | numbered, min_size=2, max_size=4, unique=True)
    return (plain if freq in ("DAILY", "WEEKLY") else plain | counted | counted | mixed).map(",".join)
