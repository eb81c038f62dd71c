"""Dates in the conditions of saved searches; pure."""

import calendar
import re
from datetime import UTC, datetime, timedelta

PERIOD = re.compile(r"^\s*(\d{1,6})\s+(hour|day|week|month|year)s?\s*$")
CALENDAR_DATE = re.compile(r"(?<!\d)(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?!\d)")
EARLIEST = datetime(1, 1, 1, tzinfo=UTC)


def calendar_date(value: str) -> str:
    """The first date in a text as far as it goes: `2021`, `2021-03` or `2021-03-05`; else ``."""
    found = CALENDAR_DATE.search(value)
    if found is None:
        return ""
    return "-".join(part for part in found.groups() if part and int(part))


def start_of_period(period: str, now: datetime) -> datetime | None:
    """When a period such as `2 months` that ends now began; None for a text that is none."""
    found = PERIOD.match(period)
    if found is None:
        return None
    count, unit = int(found[1]), found[2]
    try:
        match unit:
            case "month":
                return _months_before(now, count)
            case "year":
                return _months_before(now, 12 * count)
            case _:
                return now - timedelta(**{f"{unit}s": count})
    except OverflowError:
        return EARLIEST


def _months_before(now: datetime, months: int) -> datetime:
    year, month = divmod(now.year * 12 + now.month - 1 - months, 12)
    if year < 1:
        return EARLIEST
    last = calendar.monthrange(year, month + 1)[1]
    return now.replace(year=year, month=month + 1, day=min(now.day, last))
