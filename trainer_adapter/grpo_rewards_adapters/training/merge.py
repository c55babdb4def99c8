"""LoRA adapters merged into the model that they were trained on."""

from __future__ import annotations

import shutil
from pathlib import Path

from transformers import AutoModelForCausalLM, AutoTokenizer

from grpo_rewards.errors import ConfigError
from grpo_rewards.packages import require
from grpo_rewards_adapters.training.provenance import FILE


def merge(adapter: Path, output: Path, *, base: str | None = None, dtype: str = "auto") -> str:
    """Write the merged model and its tokenizer to `output`, and return the name of the base model.

    `base` is needed only where the adapter's own record of it leads nowhere any more.

    Raises:
        ConfigError: `adapter` holds no adapter, or the base model cannot be loaded.
    """
    require("peft", by="merge", extra="train")
    from peft import PeftConfig, PeftModel

    if not (adapter / "adapter_config.json").is_file():
        raise ConfigError(
            "holds no adapter_config.json: give the folder 'model' of a run with lora, or one of its checkpoints",
            source=str(adapter),
        )
    name = base or PeftConfig.from_pretrained(str(adapter)).base_model_name_or_path
    try:
        model = AutoModelForCausalLM.from_pretrained(name, dtype=dtype)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"its base model {name!r} cannot be loaded ({str(error).splitlines()[0]}); give --base", source=str(adapter)
        ) from error
    merged = PeftModel.from_pretrained(model, str(adapter)).merge_and_unload()
    merged.save_pretrained(str(output))
    # the adapter's tokenizer may have another chat template or pad token than the base's
    place = str(adapter) if (adapter / "tokenizer_config.json").is_file() else str(name)
    AutoTokenizer.from_pretrained(place).save_pretrained(str(output))
    if (adapter / FILE).is_file():
        shutil.copyfile(adapter / FILE, output / FILE)
    return str(name)
