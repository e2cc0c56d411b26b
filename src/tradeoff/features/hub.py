"""Any vision or text model in the format of the Hugging Face hub, by id or from a folder."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tradeoff._extras import import_extra
from tradeoff.exceptions import InvalidInputError, UnreadableError
from tradeoff.features.hub_files import (
    check_depth,
    model_files,
    model_folder,
    one_sentence,
    quietly,
)
from tradeoff.features.hub_pixels import read_pixels
from tradeoff.features.network import (
    BatchedNetwork,
    ImageNetwork,
    Network,
    check_rows,
    hash_files,
    in_batches,
)
from tradeoff.features.trust import refuse_code, refuse_pickles

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from tradeoff.data.base import Kind, Sample
    from tradeoff.features.images import Pixels

__all__ = ["HubImages", "HubModel", "HubTexts"]

_SHORTEST = 16


@dataclass(frozen=True)
class HubModel(Network):
    """What models of the hub share: a folder, its name, and a hash of its files.

    Args:
        model: Id on the hub, or a folder.

    Example:
        >>> from tradeoff.features.hub import HubModel
        >>> HubModel("facebook/dinov2-base", dtype="bfloat16").name
        'facebook/dinov2-base'
    """

    offline: ClassVar[str | None] = None
    model: str

    @property
    def name(self) -> str:
        """The id, or the name of the folder."""
        path = Path(self.model)
        return path.name if path.is_dir() else self.model

    @cached_property
    def weights(self) -> str:
        """A hash of the model's files."""
        return hash_files(model_files(self._folder))

    @cached_property
    def _folder(self) -> Path:
        return model_folder(self.model, offline=self.offline)

    def _load(self) -> Any:
        raise NotImplementedError

    @cached_property
    def _network(self) -> Any:
        with quietly(), one_sentence(f"`{self.name}` must be a model in the format of the hub"):
            refuse_code(self.name, self._folder)
            refuse_pickles(self.name, self._folder)
            check_depth(self.name, self._folder)
            return self._load()

    @property
    def _fails(self) -> str:
        return f"`{self.name}` cannot embed samples: check the files of the model"


@dataclass(frozen=True)
class HubImages(HubModel, ImageNetwork):
    """A vision model of the Hugging Face hub: DINOv2, CLIP, ViT and others.

    Features are the pooled output of the model, the projected one of CLIP, or the first token where
    there is no trained pooling. Code that comes with a model is never run: a model that needs it is
    refused.

    Args:
        model: Id on the hub, or a folder.
        device: Device of the network; "auto" is a GPU if there is one.
        dtype: Precision of products inside the network.
        batch_size: Number of samples that the network sees at once.

    Example:
        >>> from tradeoff.features.hub import HubImages
        >>> HubImages("facebook/dinov2-base").name
        'facebook/dinov2-base'
    """

    offline: ClassVar[str | None] = "efficientnet-lite0"

    @cached_property
    def pixels(self) -> Pixels:
        """As the model's own configuration says."""
        return read_pixels(self.name, self._folder)

    def embed_in(self, size: int, prepared: Sequence[Any]) -> npt.NDArray[np.float32]:
        """Features of prepared images, shape (n, d), in batches of a size."""
        with one_sentence(self._fails):
            return super().embed_in(size, prepared)

    def forward(self, x: Any) -> Any:
        """Pooled features."""
        network, has_pooling = self._network
        if hasattr(network, "get_image_features"):
            output = network.get_image_features(pixel_values=x)
            return getattr(output, "pooler_output", output)
        output = network(pixel_values=x)
        pooled = getattr(output, "pooler_output", None)
        return pooled if pooled is not None and has_pooling else output.last_hidden_state[:, 0]

    def _load(self) -> tuple[Any, bool]:
        """The network, and whether its pooling was trained."""
        package = import_extra("transformers", extra="hub", purpose="A model of the hub")
        network, loading = package.AutoModel.from_pretrained(
            self._folder,
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
        missing = set(loading["missing_keys"])
        pooling = {key for key in missing if "pooler" in key}
        if missing - pooling:
            raise InvalidInputError(
                f"`{self.name}` must hold all weights of its network. "
                f"{len(missing)} are missing, {min(missing)} among them."
            )
        return network.eval().to(self.torch_device), not pooling


@dataclass(frozen=True)
class HubTexts(HubModel, BatchedNetwork):
    """A sentence encoder or any other text model of the Hugging Face hub.

    A text is padded to 16, 32, 64 … tokens, so that its features do not depend on the other texts
    in its batch. Code that comes with a model is never run: a model that needs it is refused.

    Args:
        model: Id on the hub, or a folder.
        device: Device of the network; "auto" is a GPU if there is one.
        dtype: Precision of products inside the network.
        batch_size: Number of samples that the network sees at once.

    Example:
        >>> from tradeoff.features.hub import HubTexts
        >>> HubTexts("sentence-transformers/all-MiniLM-L6-v2").kind
        'text'
    """

    kind: ClassVar[Kind] = "text"
    offline: ClassVar[str | None] = "all-minilm-l6-v2"

    @property
    def preprocessing(self) -> str:
        """In words."""
        with one_sentence(self._fails):
            modules = ", ".join(type(module).__name__ for module in self._network)
            return f"cut at {self._network.max_seq_length} tokens; {modules}{self.in_words}"

    def prepare(self, sample: Sample) -> str:
        """The text itself."""
        if not isinstance(sample.content, str):
            raise UnreadableError("A text was expected.")
        return sample.content

    def embed_in(self, size: int, prepared: Sequence[Any]) -> npt.NDArray[np.float32]:
        """One vector per text, in batches of a size."""
        with one_sentence(self._fails):
            return self._embed(size, prepared)

    def _embed(self, batch_size: int, prepared: Sequence[Any]) -> npt.NDArray[np.float32]:
        network = self._network
        # The name of `preprocess` before sentence-transformers 5.4 was `tokenize`.
        preprocess = network.preprocess if hasattr(network, "preprocess") else network.tokenize
        tokens = preprocess(list(prepared))
        lengths = tokens["attention_mask"].sum(1).tolist()
        sizes = np.array([max(_SHORTEST, 1 << (length - 1).bit_length()) for length in lengths])
        sizes = np.minimum(sizes, self._network.max_seq_length or sizes.max())
        parts, order = [], list[int]()
        for size in np.unique(sizes).tolist():
            chosen = np.flatnonzero(sizes == size).tolist()
            parts.append(in_batches(partial(self._run, tokens, size), chosen, batch_size))
            order += chosen
        return np.asarray(np.concatenate(parts)[np.argsort(order)])

    def _run(self, tokens: dict[str, Any], size: int, rows: Sequence[int]) -> Any:
        """Features of the texts in these rows, filled up to a number of tokens."""
        import torch

        filling = {"input_ids": self._network.tokenizer.pad_token_id}
        left = self._network.tokenizer.padding_side == "left"
        batch = {}
        for name, values in tokens.items():
            if not (torch.is_tensor(values) and values.ndim == 2):
                batch[name] = values
                continue
            chosen = values[list(rows)]
            chosen = chosen[:, -size:] if left else chosen[:, :size]
            more = size - chosen.shape[1]
            sides = (more, 0) if left else (0, more)
            chosen = torch.nn.functional.pad(chosen, sides, value=filling.get(name, 0))
            batch[name] = chosen.to(self.torch_device)
        with self.running():
            features = self._network(batch)["sentence_embedding"]
        return check_rows(features.float().cpu().numpy(), len(rows))

    def _load(self) -> Any:
        package = import_extra("sentence_transformers", extra="hub", purpose="A text encoder")
        return package.SentenceTransformer(
            str(self._folder),
            device=str(self.torch_device),
            local_files_only=True,
            trust_remote_code=False,
        ).eval()
