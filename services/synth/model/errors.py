"""What can go wrong between synth and a provider of models, each told in one sentence.

Nothing of a provider's own message is passed on: it may repeat keys or library text.
"""

import grpc
from pydantic_ai import exceptions

from services.chassis.errors import ServiceError


class ModelError(ServiceError):
    """A call of the language model failed."""


class ModelUnavailable(ModelError):
    """The provider could not be reached or failed; trying again later may help."""

    code, reason = grpc.StatusCode.UNAVAILABLE, "MODEL_UNAVAILABLE"


class ModelBusy(ModelError):
    """The provider limits the rate of calls, and patience has run out."""

    code, reason = grpc.StatusCode.RESOURCE_EXHAUSTED, "MODEL_BUSY"


class ModelQuotaUsedUp(ModelError):
    """The account behind the key may not be used further."""

    code, reason = grpc.StatusCode.FAILED_PRECONDITION, "MODEL_QUOTA_USED_UP"


class ModelKeyRefused(ModelError):
    """The provider does not accept the key."""

    code, reason = grpc.StatusCode.FAILED_PRECONDITION, "MODEL_KEY_REFUSED"


class ModelUnknown(ModelError):
    """The provider has no such model."""

    code, reason = grpc.StatusCode.FAILED_PRECONDITION, "MODEL_UNKNOWN"


class ModelInputTooLong(ModelError):
    """The request does not fit into the model's context."""

    code, reason = grpc.StatusCode.FAILED_PRECONDITION, "MODEL_INPUT_TOO_LONG"


class ModelRefused(ModelError):
    """The provider refused the request or its reply."""

    code, reason = grpc.StatusCode.FAILED_PRECONDITION, "MODEL_REFUSED"


class ModelReplyUnusable(ModelError):
    """The model replied with nothing that can be used."""

    code, reason = grpc.StatusCode.UNAVAILABLE, "MODEL_REPLY_UNUSABLE"


# Worth another attempt in a moment.
PASSING = (ModelUnavailable, ModelBusy, ModelReplyUnusable)


def named(error: exceptions.AgentRunError, model: str) -> ModelError:
    """The library's failure as one of ours, with what to do."""
    match error:
        case exceptions.ModelAuthenticationError():
            return ModelKeyRefused(
                f"{model}: the provider refused the key; set another one with `zocrates configure`."
            )
        case exceptions.ModelNotFoundError():
            return ModelUnknown(
                f"{model}: the provider has no such model, or SYNTH_BASE_URL is wrong; choose "
                "another with `zocrates configure`."
            )
        case exceptions.ModelContextWindowExceededError():
            return ModelInputTooLong(
                f"{model}: the passages do not fit into this model's context; choose a model with "
                "a larger one or lower max_rerank_chunks."
            )
        case exceptions.ModelQuotaExceededError():
            return ModelQuotaUsedUp(
                f"{model}: the account has no quota left; add to it at the provider or choose "
                "another model."
            )
        case exceptions.ModelRateLimitError():
            return ModelBusy(f"{model}: the provider limits the rate of calls; retry in a while.")
        case exceptions.ModelConnectionError() | exceptions.ModelRequestTimeout():
            return ModelUnavailable(
                f"{model}: the provider cannot be reached or does not answer; check its address "
                "and the network, then retry."
            )
        case exceptions.ModelUnavailableError() | exceptions.ModelServerError():
            return ModelUnavailable(f"{model}: the provider failed for the moment; retry.")
        case exceptions.ModelRequestRejectedError() | exceptions.ContentFilterError():
            return ModelRefused(
                f"{model}: the provider refused the request; put the question in other words or "
                "choose another model."
            )
        case exceptions.ModelHTTPError(status_code=status) if status >= 500:
            return ModelUnavailable(f"{model}: the provider failed for the moment; retry.")
        case exceptions.ModelAPIError():
            return ModelRefused(
                f"{model}: the provider refused the request; check the model's name and settings."
            )
        case _:
            return ModelReplyUnusable(f"{model}: the reply could not be understood; retry.")
