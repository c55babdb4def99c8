"""A sequence classifier of transformers: loading it, laying out its input, running it in batches."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import TemplateError

from grpo_rewards.errors import InfrastructureError

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Classifier:
    """A model and its tokenizer on a device, ready to score."""

    network: Any
    tokenizer: Any
    device: str
    marks: re.Pattern[str]
    """The tokenizer's special tokens, which a completion could write as text: turns of a chat, or the end of what is read."""

    @classmethod
    def load(cls, name: str, *, device: str = "auto", dtype: str = "auto") -> Classifier:
        """Load a classifier from a folder or the hub, never running code that comes with it.

        Raises:
            InfrastructureError: there is no such model, or it does not fit.
        """
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        if dtype == "auto":
            dtype = "bfloat16" if device.startswith("cuda") else "float32"
        try:
            tokenizer = AutoTokenizer.from_pretrained(name, trust_remote_code=False)
            network = AutoModelForSequenceClassification.from_pretrained(
                name, dtype=getattr(torch, dtype), trust_remote_code=False
            )
            network = network.to(device).eval()
        except (OSError, ValueError, RuntimeError) as error:
            raise InfrastructureError(f"{name} cannot be loaded: {_first_line(error)}") from None
        if tokenizer.pad_token is None:
            tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
        if network.config.pad_token_id is None:  # decoders find the last token by it
            network.config.pad_token_id = tokenizer.pad_token_id
        tokenizer.truncation_side = "left"
        special = {str(token) for token in tokenizer.added_tokens_decoder.values() if token.special}
        special.update(map(str, tokenizer.all_special_tokens))
        marks = re.compile("|".join(map(re.escape, sorted(special, key=len, reverse=True))) or r"\Z\A")
        return cls(network, tokenizer, device, marks)

    def text(self, prompt: Any, completion: str, messages: Sequence[Mapping[str, object]]) -> str:
        """Return what the classifier reads for one row: chat through its template, text joined as it is."""
        if prompt is None or isinstance(prompt, str):
            return (prompt or "") + str(self._unmarked(completion))
        asked = [prompt] if isinstance(prompt, Mapping) else list(prompt)
        said = [self._unmarked({**message, "content": _joined(message.get("content"))}) for message in messages]
        chat = [*asked, *said]
        if self.tokenizer.chat_template is None:
            return "\n".join(f"{message.get('role', 'assistant')}: {message.get('content') or ''}" for message in chat)
        try:
            return str(self.tokenizer.apply_chat_template(chat, tokenize=False))
        except TemplateError as error:
            raise InfrastructureError(
                f"the model's chat template refused a conversation: {_first_line(error)}"
            ) from None

    def templated(self, prompt: object) -> bool:
        """Whether the chat template lays out a row with this prompt."""
        return not (prompt is None or isinstance(prompt, str)) and self.tokenizer.chat_template is not None

    def _unmarked(self, said: Any) -> Any:
        """What is said, without special tokens in any of its texts: a space where one stood within it, so that no other is made by
        what is left.
        """
        if isinstance(said, Mapping):
            return {name: self._unmarked(part) for name, part in said.items()}
        if isinstance(said, list | tuple):
            return [self._unmarked(part) for part in said]
        if not isinstance(said, str) or self.marks.search(said) is None:
            return said
        return self.marks.sub(" ", said).rstrip()

    def outputs(
        self, texts: Sequence[str], *, batch_size: int, max_tokens: int, templated: bool = False
    ) -> Iterator[tuple[int, list[float]]]:
        """Yield each text's place and the classifier's outputs, batch by batch (padding may change their last digits).

        Texts that are `templated` have the tokens in them that the tokenizer would put around others.

        Raises:
            InfrastructureError: a single text does not fit into memory, or the network refuses it.
        """
        import torch

        by_length = sorted(range(len(texts)), key=lambda row: len(texts[row]))  # little padding per batch
        place = 0
        while place < len(by_length):
            rows = by_length[place : place + batch_size]
            try:
                outputs = self._forward([texts[row] for row in rows], max_tokens, templated)
            # before RuntimeError, of which it is a kind
            except torch.cuda.OutOfMemoryError:
                torch.cuda.empty_cache()
                if batch_size == 1:
                    raise InfrastructureError(
                        "the GPU's memory does not suffice for one row; lower max_tokens"
                    ) from None
                # for the rest of the call: the texts that follow are longer still
                batch_size = max(1, len(rows) // 2)
                _log.warning("the GPU's memory does not suffice for %d rows; going on with %d", len(rows), batch_size)
                continue
            except (RuntimeError, IndexError, ValueError) as error:
                raise InfrastructureError(f"the network refused a batch: {_first_line(error)}") from None
            yield from zip(rows, outputs, strict=True)
            place += len(rows)

    def _forward(self, texts: list[str], max_tokens: int, templated: bool) -> list[list[float]]:
        import torch

        # Lone surrogates cannot be encoded, and a row of no tokens has no last one.
        texts = [text.encode("utf-8", "replace").decode() or self.tokenizer.pad_token for text in texts]
        longest = getattr(self.network.config, "max_position_embeddings", None) or max_tokens
        batch = self.tokenizer(
            texts,
            return_tensors="pt",
            padding=True,
            truncation=True,
            max_length=min(max_tokens, longest),
            add_special_tokens=not templated,
        ).to(self.device)
        # one segment, so all are 0, as without them; networks of decoders may refuse the argument
        batch.pop("token_type_ids", None)
        with torch.inference_mode():
            logits = self.network(**batch).logits
        return logits.float().cpu().tolist()  # type: ignore[no-any-return]


def _joined(content: object) -> object:
    """A content as one text: of a list of parts, two could make a special token together."""
    if not isinstance(content, list | tuple):
        return content
    texts = (part.get("text") if isinstance(part, Mapping) else part for part in content)
    return "".join(text for text in texts if isinstance(text, str))


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)[:300]
