"""One JSON request to a service, for rewards that ask one: no redirects, a bounded answer, and what no answer means.

By the standard library, imported with the first request: httpx would cost 50 ms of processor time in place of 30, and six packages.
"""

from __future__ import annotations

import contextlib
from functools import cache
from typing import TYPE_CHECKING

from grpo_rewards.errors import InfrastructureError

if TYPE_CHECKING:
    from urllib.request import OpenerDirector

__all__ = ["NoAnswer", "post"]

_RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_REFUSED = frozenset({401, 403})
_SHOWN = 4096  # bytes of what an error says


class NoAnswer(InfrastructureError):
    """A service did not answer; the text says why, and reads on from its name.

    `pause` is the least number of seconds to wait before it is asked again, None where that helps nothing; `refused` says
    that it did not take the token, and `body` is the beginning of what it said.
    """

    def __init__(self, text: str, *, pause: float | None = 0.0, refused: bool = False, body: bytes = b"") -> None:
        super().__init__(text)
        self.pause, self.refused, self.body = pause, refused, body


def post(url: str, body: bytes, *, token: str, timeout: float, most: int) -> bytes:
    """Post JSON, with `token` as bearer where it is not empty, and return the answer's first `most` bytes.

    Redirects are refused: following one would hand the token to another host. `timeout` is in seconds.

    Raises:
        NoAnswer: the service cannot be reached, or it answers with an error.
    """

    import http.client
    import urllib.error
    import urllib.request

    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
    try:
        with _opener().open(urllib.request.Request(url, body, headers), timeout=timeout) as response:
            answer: bytes = response.read(most)
    except urllib.error.HTTPError as error:
        pause = _seconds(error.headers.get("Retry-After")) if error.code in _RETRIED else None
        said = b""
        with error, contextlib.suppress(OSError, http.client.HTTPException):  # it may break off in the middle
            said = error.read(_SHOWN)
        raise NoAnswer(f"answered {error.code}", pause=pause, refused=error.code in _REFUSED, body=said) from None
    except (OSError, http.client.HTTPException) as error:  # URLError and time-outs are OSErrors
        why = getattr(error, "reason", None) or type(error).__name__
        raise NoAnswer(f"cannot be reached: {why}") from None
    return answer


@cache
def _opener() -> OpenerDirector:
    import urllib.request

    class NoRedirect(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_args: object) -> None:
            return None

    return urllib.request.build_opener(NoRedirect)


def _seconds(text: str | None) -> float:
    try:
        return max(0.0, float(text or 0))
    except ValueError:  # an HTTP date
        return 1.0
