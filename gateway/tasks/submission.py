"""What a submitted task asks for, as its fields and the known keys of its context say it."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from gateway.tasks.wire import ID_PATTERN, TaskRequest, Warned

MODES = ("simple", "standard", "complex", "supervisor")
TIERS = ("small", "medium", "large")
STRATEGIES = ("quick", "standard", "deep", "academic")
PROVIDERS = (
    "openai",
    "anthropic",
    "google",
    "groq",
    "xai",
    "deepseek",
    "qwen",
    "zai",
    "ollama",
    "mistral",
    "cohere",
    "openai-compatible",
)
# These do not plan their work, so there would be nothing to review.
MODES_WITHOUT_REVIEW = frozenset({"simple", "supervisor"})
# Longer than anybody waits, and short enough for any clock.
MOST_WAIT_S = 10 * 365 * 86_400
# Recorded, and given back, but nothing here follows them.
UNUSED = (
    "model_tier",
    "model_override",
    "provider_override",
    "max_iterations",
    "max_concurrent_agents",
    "enable_verification",
)


# What attachments may hold together, and the longest of their fields that describe them.
MOST_ATTACHED_BYTES = 25 * 1024 * 1024
MOST_DESCRIPTION = 1_000
# A context is kept with the task and given back with it.
MOST_CONTEXT_BYTES = 64 * 1024


class Unacceptable(Exception):
    """A task cannot be submitted like this; the text is for the person, `field` for programs."""

    def __init__(self, text: str, field: str) -> None:
        super().__init__(text)
        self.text = text
        self.field = field


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A task as it is to be started."""

    query: str
    session: str
    context: Mapping[str, JsonValue]
    mode: str
    tier: str
    model: str
    provider: str
    strategy: str
    is_reviewed: bool
    review_timeout_s: int | None
    is_forced: bool
    asks_for_extensions: bool
    warnings: tuple[Warned, ...]


def submission_of(request: TaskRequest) -> Submission:
    """What is to be started; raises Unacceptable."""
    context = dict(request.context or {})
    query = request.query.strip()
    if not query:
        # Elsewhere an attachment can be the question.
        reads_none = ": attachments are not read here" if context.get("attachments") else ""
        raise Unacceptable(f"Query is required{reads_none}", "query")
    context |= _attachments(context)
    if request.session_id and re.fullmatch(ID_PATTERN, request.session_id) is None:
        raise Unacceptable("Invalid session ID format", "session_id")
    if request.skill.strip():
        raise Unacceptable(f"Unknown skill: {request.skill.strip()[:100]}", "skill")
    mode = _one_of(request.mode, MODES, "mode")
    context |= _controls(request)
    _check_models(context)
    is_reviewed = _is_true(context.get("require_review")) or context.get("review_plan") == "manual"
    if is_reviewed and mode in MODES_WITHOUT_REVIEW:
        raise Unacceptable(
            f"mode {mode!r} makes no plan to review; leave mode or require_review out", "mode"
        )
    waits, doubts = _review_timeout(context) if is_reviewed else (None, [])
    strategy, unknown = _strategy(context)
    return Submission(
        query=query,
        session=request.session_id,
        context=context,
        mode=mode,
        tier=_word(context.get("model_tier")),
        model=_word(context.get("model_override")),
        provider=_word(context.get("provider_override")),
        strategy=strategy,
        is_reviewed=is_reviewed,
        review_timeout_s=waits,
        # There is a plan to review only where there is research.
        is_forced=is_reviewed or _is_true(context.get("force_research")),
        asks_for_extensions=_is_true(context.get("hitl_extensions")),
        warnings=(*doubts, *unknown, *_unused(request, context)),
    )


def _controls(request: TaskRequest) -> dict[str, JsonValue]:
    """The fields that are part of the context too; they beat what stands there."""
    given: dict[str, JsonValue] = {
        "model_tier": _one_of(request.model_tier, TIERS, "model_tier") or None,
        "model_override": request.model_override.strip() or None,
        "provider_override": _provider(request.provider_override) or None,
        "research_strategy": _one_of(request.research_strategy, STRATEGIES, "research_strategy")
        or None,
        "max_iterations": _within(request.max_iterations, 50, "max_iterations"),
        "max_concurrent_agents": _within(
            request.max_concurrent_agents, 20, "max_concurrent_agents"
        ),
        "enable_verification": request.enable_verification,
    }
    return {name: value for name, value in given.items() if value is not None}


def _attachments(context: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The attachments as they are kept: what they are, without what is in them."""
    given = context.get("attachments")
    if not isinstance(given, list):
        return {}
    size = 0
    kept: list[JsonValue] = []
    for one in given:
        fields = one if isinstance(one, dict) else {"data": one}
        contents = [value for value in fields.values() if _is_content(value)]
        # Three bytes are four characters of base64.
        size += sum(len(value) * 3 // 4 for value in contents if isinstance(value, str))
        kept.append({name: value for name, value in fields.items() if not _is_content(value)})
    if size > MOST_ATTACHED_BYTES:
        most = MOST_ATTACHED_BYTES // (1024 * 1024)
        raise Unacceptable(f"attachments hold more than {most} MiB together", "context.attachments")
    return {"attachments": kept}


def _is_content(value: JsonValue) -> bool:
    return isinstance(value, str) and len(value) > MOST_DESCRIPTION


def _check_models(context: Mapping[str, JsonValue]) -> None:
    wishes = ("model_tier", "model_override", "provider_override")
    if _is_true(context.get("disable_ai")) and any(_word(context.get(name)) for name in wishes):
        raise Unacceptable("disable_ai=true conflicts with model_tier/model_override", "context")


def _review_timeout(context: Mapping[str, JsonValue]) -> tuple[int | None, list[Warned]]:
    """Whole seconds, None for what is configured; what cannot be taken is told."""
    given = context.get("review_timeout")
    if given is None:
        return None, []
    try:
        seconds = float(given) if isinstance(given, int | float | str) else math.nan
    except (ValueError, OverflowError):
        seconds = math.nan
    if isinstance(given, bool) or not seconds > 0:
        field = "context.review_timeout"
        told = Warned(
            code="REVIEW_TIMEOUT_DEFAULTED", field=field, given=_text(given), used="the usual time"
        )
        return None, [told]
    return math.ceil(min(seconds, MOST_WAIT_S)), []


def _strategy(context: Mapping[str, JsonValue]) -> tuple[str, list[Warned]]:
    given = context.get("research_strategy")
    name = given.strip().lower() if isinstance(given, str) else ""
    if name in STRATEGIES:
        return name, []
    if not given:
        return "", []
    field = "context.research_strategy"
    told = Warned(code="UNKNOWN_STRATEGY", field=field, given=_text(given), used="standard")
    return "", [told]


def _unused(request: TaskRequest, context: Mapping[str, JsonValue]) -> list[Warned]:
    told = []
    for name in UNUSED:
        if (given := context.get(name)) not in (None, ""):
            stands = name if getattr(request, name) not in (None, "") else f"context.{name}"
            told.append(Warned(code="NOT_USED", field=stands, given=_text(given), used=""))
    if attachments := context.get("attachments"):
        field = "context.attachments"
        number = len(attachments) if isinstance(attachments, list) else 1
        told.append(Warned(code="NOT_USED", field=field, given=f"{number} attached", used=""))
    return told


def _one_of(given: str, values: tuple[str, ...], field: str) -> str:
    name = given.strip().lower()
    if name and name not in values:
        raise Unacceptable(f"Invalid {field} (allowed: {', '.join(values)})", field)
    return name


def _provider(given: str) -> str:
    name = given.strip().lower()
    if name and name not in PROVIDERS:
        listed = ", ".join(PROVIDERS)
        raise Unacceptable(
            f"Invalid provider_override: {name[:100]} (allowed: {listed})", "provider_override"
        )
    return name


def _within(given: int | None, most: int, field: str) -> int | None:
    if given is not None and not 1 <= given <= most:
        raise Unacceptable(f"{field} out of range (1..{most})", field)
    return given


def _is_true(value: JsonValue) -> bool:
    return value is True or (isinstance(value, str) and value.strip().lower() in ("true", "1"))


def _word(value: JsonValue) -> str:
    return value.strip()[:200] if isinstance(value, str) else ""


def _text(value: JsonValue) -> str:
    return (str(value).lower() if isinstance(value, bool) else str(value))[:200]
