"""``@reward``, ``@reward.batch`` and ``@reward.group``: from a function to a `Reward` whose settings type checkers know."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Concatenate, Never, ParamSpec, TypeAlias, TypedDict, Unpack, overload

from grpo_rewards._contract.reward import Range, Reward, Settings
from grpo_rewards._contract.shapes import SettingValues
from grpo_rewards._contract.signature import Style

if TYPE_CHECKING:
    _P = ParamSpec("_P")  # what follows the data, of which there may be one to six; a function of any type takes Never
    _After1: TypeAlias = Callable[Concatenate[Never, _P], object]
    _After2: TypeAlias = Callable[Concatenate[Never, Never, _P], object]
    _After3: TypeAlias = Callable[Concatenate[Never, Never, Never, _P], object]
    _After4: TypeAlias = Callable[Concatenate[Never, Never, Never, Never, _P], object]
    _After5: TypeAlias = Callable[Concatenate[Never, Never, Never, Never, Never, _P], object]
    _After6: TypeAlias = Callable[Concatenate[Never, Never, Never, Never, Never, Never, _P], object]

    class _Options(TypedDict, total=False):
        range: Range | None
        name: str | None
        check_settings: Callable[[SettingValues], None] | None
        check_row: Callable[..., str | None] | None
        kind_of_row: Callable[..., str | None] | None
        columns: Mapping[str, str] | None
        workers: int | None
        apart: bool
        needs: Sequence[str]
        extra: str


class _Decorator:
    """``@reward``, with or without arguments; `reward.batch` and `reward.group` are two more of the kind.

    From a function to a reward: what it takes by place is data and is taken off; the rest are its settings.
    """

    def __init__(self, style: Style, options: _Options | None = None) -> None:
        self._style: Style = style
        self._options: _Options = options or {}

    # the most data first: a function of two columns fits a pattern of one too, with the other among its settings
    @overload
    def __call__(self, function: _After6[Settings], /) -> Reward[Settings]: ...

    @overload
    def __call__(self, function: _After5[Settings], /) -> Reward[Settings]: ...

    @overload
    def __call__(self, function: _After4[Settings], /) -> Reward[Settings]: ...

    @overload
    def __call__(self, function: _After3[Settings], /) -> Reward[Settings]: ...

    @overload
    def __call__(self, function: _After2[Settings], /) -> Reward[Settings]: ...

    @overload
    def __call__(self, function: _After1[Settings], /) -> Reward[Settings]: ...

    @overload
    def __call__(self, function: Callable[Settings, object], /) -> Reward: ...

    @overload
    def __call__(self, function: None = None, /, **options: Unpack[_Options]) -> _Decorator: ...

    def __call__(self, function: Callable[..., object] | None = None, /, **options: Unpack[_Options]) -> object:
        """Make a `Reward` of a function.

        Args:
            range: lowest and highest value that it returns; a value outside is refused. Without it any finite number
                is taken, and the low end counts as 0.0.
            name: its name, the function's by default.
            check_settings: called with all settings once they are bound; raises ValueError where they do not fit.
            check_row: called by ``grpo-rewards validate`` with a row's columns (by parameter name) and those settings
                that it names; returns what is wrong with the data (an unreadable gold, say) or None.
            kind_of_row: called as `check_row`; returns as what the row is read, where a reward reads several kinds of data.
            columns: the names in the data of columns whose parameters are called otherwise, as a builtin is, or a setting.
            workers: how many calls may be under way at once: threads of a row reward that waits for something (1 by
                default), or calls of an ``async def`` (64 by default).
            apart: whether its work is done in processes of its own, as many as `grpo_rewards.slots.slots` gives: then a
                scoring process only feeds them, and ``score --workers`` starts no more of those than that needs.
            needs: packages that it imports when it is called first (``one|other`` for either): ``grpo-rewards validate`` says
                which are missing, and no row is scored without them.
            extra: the extra of grpo-rewards that installs them; without it ``pip install`` of their names is advised.

        Raises:
            TypeError: the function's parameters do not fit the style.
        """
        if function is not None:
            return Reward(function, style=self._style, **self._options)
        return _Decorator(self._style, options)


class _RewardDecorator(_Decorator):
    """The decorator ``reward``: one completion at a time; ``reward.batch``: lists; ``reward.group``: one prompt's lists."""

    def __init__(self) -> None:
        super().__init__("row")
        self.batch = _Decorator("batch")
        self.group = _Decorator("group")


reward = _RewardDecorator()
"""Make a reward of a function: ``@reward`` takes one completion at a time and returns a number, an `Outcome` or None;
``@reward.batch`` takes lists over all rows and returns as many; ``@reward.group`` the lists of one prompt's completions.

Parameters that stand before a ``*`` are data: ``completion`` (``completions``), ``prompt`` and columns of that name. Those behind it are
settings, validated by their annotations. With arguments: ``@reward(range=(0.0, 1.0), name="polite")``. The function may be ``async``.
"""
