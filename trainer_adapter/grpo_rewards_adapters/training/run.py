"""Running a training configuration: checks, evaluation, training, evaluation, and what is left in the output folder."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
from transformers import AutoModelForCausalLM, AutoTokenizer, PrinterCallback, set_seed
from trl.trainer.grpo_config import GRPOConfig
from trl.trainer.grpo_trainer import GRPOTrainer

from grpo_rewards import Composite
from grpo_rewards.errors import ConfigError
from grpo_rewards.packages import require
from grpo_rewards_adapters.training.arguments import current_names
from grpo_rewards_adapters.training.checks import check_arguments, check_data
from grpo_rewards_adapters.training.data import Data, TrainingRow, read_data
from grpo_rewards_adapters.training.evaluation import Answers, answer, compared
from grpo_rewards_adapters.training.hub import go_offline_without_hub
from grpo_rewards_adapters.training.provenance import FILE, ProvenanceCallback, provenance, write_json
from grpo_rewards_adapters.training.recipe import Recipe
from grpo_rewards_adapters.trl import attach, trl_kwargs
from grpo_rewards_adapters.trl.fitting import refuse_dropped_columns

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Say = Callable[[str], None]


@dataclasses.dataclass(frozen=True, slots=True)
class Checked:
    """A run that may begin: its parts, what its data look like, and what should be mended first."""

    recipe: Recipe
    composite: Composite
    tokenizer: PreTrainedTokenizerBase
    data: Data
    arguments: GRPOConfig
    figures: dict[str, object]
    findings: list[str]


def check(recipe: Recipe, *, base: Path) -> Checked:
    """Look at everything but the model's weights: arguments, batches, rewards, data, prompts.

    Raises:
        ConfigError, ColumnError, InputError: what makes the run impossible, with what to do.
    """
    defaults = {field.name: field.default for field in dataclasses.fields(GRPOConfig)}
    known = set(defaults)
    # once without the number of rows: a misspelt argument is said before tokenizer and data are read
    check_arguments(recipe.arguments, known)
    composite = recipe.composite(base)
    tokenizer = load_tokenizer(recipe, base)
    data = read_data(recipe, tokenizer, base=base)
    batches = check_arguments(recipe.arguments, known, rows=len(data.train))
    figures, findings = check_data(data, composite, tokenizer)
    output = str(base / recipe.output)
    try:
        arguments = GRPOConfig(**current_names(recipe.arguments, defaults), output_dir=output, seed=recipe.seed)
    except (TypeError, ValueError) as error:
        raise ConfigError(str(error), path="training") from error
    # for its errors alone; the trainer gets its own
    trl_kwargs(composite, args=arguments, form=recipe.form)
    refuse_dropped_columns(composite, arguments)
    if recipe.lora is not None:
        require("peft", by="lora", extra="train")
    return Checked(recipe, composite, tokenizer, data, arguments, {"batches": str(batches), **figures}, findings)


def load_tokenizer(recipe: Recipe, base: Path) -> PreTrainedTokenizerBase:
    """The tokenizer with a pad token, and with the configured chat template."""
    name = recipe.model.tokenizer or recipe.model.name
    offline = not (base / name).is_dir() and go_offline_without_hub()
    try:
        tokenizer = AutoTokenizer.from_pretrained(_place(name, base), revision=recipe.model.revision)
    except (OSError, ValueError) as error:
        hint = f": no folder {base / name}, and the hub cannot be reached" if offline else ""
        raise ConfigError(f"cannot be loaded{hint}: {str(error).splitlines()[0]}", path="model.name") from error
    if tokenizer.pad_token is None:
        # many decoders have none, and batches are padded; padding is masked, so any token will do
        tokenizer.pad_token = tokenizer.eos_token
    if recipe.chat.template is not None:
        file = base / recipe.chat.template
        if not file.is_file():
            raise ConfigError(f"no such file: {file}", path="chat.template")
        tokenizer.chat_template = file.read_text(encoding="utf-8")
    return tokenizer


def train(
    recipe: Recipe, *, base: Path, resume: bool = False, accept_changes: bool = False, say: Say
) -> dict[str, object]:
    """Run it, and return what was measured; the same is in ``evaluation.json`` of the output folder.

    The folder also gets the checkpoints, the model (``model``, adapters alone with LoRA), the held-out answers before
    and after (``before.jsonl``, ``after.jsonl``) and `provenance.FILE`.

    Raises:
        ConfigError: as of `check`; the folder cannot be made, or holds no checkpoint to `resume`.
    """
    output = base / recipe.output
    if resume and not any(output.glob("checkpoint-[0-9]*")):
        raise ConfigError(f"{output} holds no checkpoint to go on from; leave --resume out", path="output")
    ready = check(recipe, base=base)
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"the folder {output} cannot be made: {error.strerror}", path="output") from error
    for finding in ready.findings:
        say(f"finding: {finding}")
    say(str(ready.figures["batches"]))
    # before the model: new weights, those of LoRA too, are drawn
    set_seed(recipe.seed)
    trainer = build_trainer(ready, base)
    attach(trainer, ready.composite, accept_changes=accept_changes)
    main = trainer.accelerator.is_main_process
    record = provenance(recipe, ready.composite, ready.data.sources)
    trainer.add_callback(ProvenanceCallback(record))
    if main:
        write_json(output / FILE, record)

    before: Answers | list[TrainingRow] | None = _before(output) if resume else None
    if before is None:
        before = _answers(trainer, ready, say, "before")
        if main and before is not None:
            _write_rows(output / "before.jsonl", before)
    trainer.train(resume_from_checkpoint=True if resume else None)
    # on every rank: each holds a part of a sharded model
    trainer.save_model(str(output / "model"))
    if main:
        ready.tokenizer.save_pretrained(str(output / "model"))
        write_json(output / "model" / FILE, record)
        trainer.state.save_to_json(str(output / "trainer_state.json"))
    after = _answers(trainer, ready, say, "after")
    found = {"steps": trainer.state.global_step, "model": str(output / "model"), "data": ready.figures, "held_out": {}}
    if before is not None and after is not None:
        if not isinstance(before, Answers):  # the rows of the run that is gone on with
            before = Answers(before, ready.composite.score(before))
        found["held_out"] = compared(before, after, seed=recipe.seed)
        if main:
            _write_rows(output / "after.jsonl", after)
    if main:
        write_json(output / "evaluation.json", found)
    return found


def build_trainer(ready: Checked, base: Path) -> GRPOTrainer:
    """The trainer with its model, adapters and rewards."""
    recipe = ready.recipe
    adapters = None
    if (lora := recipe.lora) is not None:
        from peft import LoraConfig

        adapters = LoraConfig(
            r=lora.r, lora_alpha=lora.alpha, lora_dropout=lora.dropout, target_modules=lora.targets,
            task_type="CAUSAL_LM",
        )  # fmt: skip
    from datasets import Dataset

    try:
        model = AutoModelForCausalLM.from_pretrained(
            _place(recipe.model.name, base), revision=recipe.model.revision, dtype=recipe.model.dtype
        )
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot be loaded: {str(error).splitlines()[0]}", path="model.name") from error
    # `from_list` takes the columns of the first row alone
    columns = sorted({name for row in ready.data.train for name in row})
    rows = [{name: row.get(name) for name in columns} for row in ready.data.train]
    trainer = GRPOTrainer(
        model,
        train_dataset=Dataset.from_list(rows),
        processing_class=ready.tokenizer,
        **trl_kwargs(ready.composite, args=ready.arguments, form=recipe.form),
        peft_config=adapters,
    )
    # it prints every log to standard output, which belongs to the command's own answer
    trainer.remove_callback(PrinterCallback)
    return trainer


def _answers(trainer: GRPOTrainer, ready: Checked, say: Say, when: str) -> Answers | None:
    if not ready.data.held_out:
        return None
    model = trainer.accelerator.unwrap_model(trainer.model)
    settings = ready.recipe.evaluation
    found = answer(
        model, ready.tokenizer, ready.composite, ready.data.held_out,
        max_tokens=settings.max_tokens or int(ready.arguments.max_completion_length or 512), batch_size=settings.batch_size,
    )  # fmt: skip
    rewards = [value for value in found.table.rewards() if value is not None]
    if rewards:
        say(f"held-out reward {when}: {sum(rewards) / len(rewards):.3f} over {len(rewards)} prompts")
    return found


def _write_rows(path: Path, answers: Answers) -> None:
    values = answers.values()
    draft = path.with_suffix(".draft")  # a run that is ended meanwhile leaves no half of a file that --resume reads
    with draft.open("wb") as out:
        for index, row in enumerate(answers.rows):
            scores = {name: column[index] for name, column in values.items()}
            out.write(orjson.dumps({**row, "scores": scores}, default=str, option=orjson.OPT_APPEND_NEWLINE))
    draft.replace(path)


def _before(output: Path) -> list[TrainingRow] | None:
    """The rows that the run which is gone on with answered before it began."""
    file = output / "before.jsonl"
    if not file.is_file():
        return None
    rows = [orjson.loads(line) for line in file.read_bytes().splitlines()]
    return [{key: value for key, value in row.items() if key != "scores"} for row in rows]


def _place(name: str, base: Path) -> str:
    """A folder relative to the configuration, else a name on the hub."""
    folder = base / name
    return str(folder) if folder.is_dir() else name
