"""Settings of a reward: a validated schema made from its signature.

pydantic is imported on first use only, so that importing the core stays cheap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from grpo_rewards._contract.signature import REQUIRED, SettingParameter
from grpo_rewards.errors import SettingsError, nearest

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["settings_model", "validate_settings"]

_FIELD = "setting_"


def settings_model(reward: str, parameters: Sequence[SettingParameter]) -> type[BaseModel]:
    """Return the pydantic model of a reward's settings (field per setting, nothing else allowed)."""
    from pydantic import ConfigDict, Field, create_model

    # The alias keeps settings called schema, copy or json from shadowing what a model has of its own.
    fields: dict[str, Any] = {
        _FIELD + parameter.name: (
            parameter.annotation,
            Field(... if parameter.default is REQUIRED else parameter.default, alias=parameter.name),
        )
        for parameter in parameters
    }
    config = ConfigDict(extra="forbid", arbitrary_types_allowed=True, protected_namespaces=())
    return create_model(f"{reward}_settings", __config__=config, **fields)


def validate_settings(
    reward: str, parameters: Sequence[SettingParameter], given: Mapping[str, object], *, partial: bool = False
) -> dict[str, object]:
    """Return `given` converted to the declared types; with `partial`, required settings may still be missing.

    Raises:
        SettingsError: a setting is unknown (with the nearest name), missing, or of the wrong type.
    """
    known = [parameter.name for parameter in parameters]
    for name in given:
        if name not in known:
            takes = f"it takes {', '.join(sorted(known))}" if known else "it takes none"
            raise SettingsError(
                f"reward {reward!r} has no setting {name!r}{nearest(name, known)} ({takes})",
                reward=reward,
                setting=name,
            )
    if not given and (partial or not parameters):  # nothing to check, so pydantic need not be imported
        return {}
    from pydantic import ValidationError

    wanted = [parameter for parameter in parameters if not partial or parameter.name in given]
    try:
        model = settings_model(reward, wanted)(**given)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        if first["type"] == "missing":
            message = f"reward {reward!r} needs the setting {name!r}; give it under params, or with .with_({name}=...)"
        else:
            message = f"reward {reward!r}, setting {name!r}: {first['msg']}, not {first['input']!r}"
        raise SettingsError(message, reward=reward, setting=name) from None
    return {name: getattr(model, _FIELD + name) for name in given}
