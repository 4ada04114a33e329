"""Is this a neural network, a data set, a loss: by what it derives from, then by what it is called."""

from __future__ import annotations

import re

from trainsleuth.facts import Class, Expr, External, Function, Index

from ..calling.values import Values
from .parameter_holders import holds_parameters

_NETWORK_BASES = (
    "torch.nn.Module",
    "torch.nn.modules.module.Module",
    "torch.nn.Sequential",
    "torch.nn.ModuleList",
    "torch.jit.ScriptModule",
    "keras.Model",
)
_NETWORK_ENDINGS = (
    "LightningModule",
    "PreTrainedModel",
    "ModelMixin",
    "PyTorchModelHubMixin",
    "MessagePassing",
    "TensorDictModuleBase",
    "nn.Module",
)
_DATASET_ENDINGS = (
    "Dataset",
    "IterableDataset",
    "DataModule",
    "DataLoader",
    "Sampler",
    "DataPipe",
    "IterDataPipe",
    "BatchSampler",
)
_NETWORK_NAMES = re.compile(
    r"(?:^|[_.])(?:\w*model\w*|\w*net|network|generator\w*|discriminator\w*|\w*encoder|\w*decoder|backbone|policy|actor|critic|"
    r"agent|unet|vae|gan|student|teacher|transformer|diffusion|qf\d?|q_network|netg|netd|g|d|mpd|msd|forward)$",
    re.I,
)
_LOSS = re.compile(
    r"loss|criteri|(?:^|_)cri_|objective|cross_entropy|kl_div|(?:^|_)(?:mse|bce|nll|ctc|elbo|dice)(?:$|_)", re.I
)
_NOT_LOSS = re.compile(
    r"log(?!it)|plot|estimate|meter|print|track|history|scale|reduce_loss|add_|append|update|backward|save|best|items?$|register|^_?parse_",
    re.I,
)


def is_network(index: Index, cls: Class) -> bool:
    """By its bases; what has a forward method and a base of another library, or parameters of its own, counts, and what
    has a backward of its own beside it: a network written by hand.
    """
    bases = index.external_bases(cls)
    if not set(bases) - {"object", "builtins.object", "abc.ABC"} and all(
        index.method(cls, name) for name in ("forward", "backward")
    ):
        return True
    if any(base in _NETWORK_BASES or base.endswith(_NETWORK_ENDINGS) for base in bases):
        return True
    forward = index.method(cls, "forward") if any(_MAY_BE_BASE.search(base) for base in bases) else None
    forward = forward or (index.method(cls, "forward_train") if bases else None)
    return (forward is not None and len(forward.parameters) > 1) or holds_parameters(index, cls)


_MAY_BE_BASE = re.compile(
    r"\.(?:Base)?(?:Model|Module|Network|Net|Layer|Encoder|Decoder|Backbone)\w{0,6}$|\w(?:Head|Neck|Detector|Transformer|Attention|Model|Module|Network)$"
    r"|^transformers\.\w*For[A-Z]\w+$|\.(?:modeling|models?|layers|nn|networks?|archs?|modules|backbones?|necks|heads)\."
)


def class_it_makes(index: Index, target: Function) -> Class | None:
    """The class whose class method this is: MusicDataset.from_meta(...)."""
    made = any(decorator.last == "classmethod" for decorator in target.decorators)
    return index.class_of(target) if made else None


def is_dataset(index: Index, cls: Class) -> bool:
    """A data set, loader or sampler by its bases, or a class with a length and items of its own."""
    if any(base.rpartition(".")[2].endswith(_DATASET_ENDINGS) for base in index.external_bases(cls)):
        return True
    if any(base.startswith(("torchvision.datasets.", "torchaudio.datasets.")) for base in index.external_bases(cls)):
        return True
    if cls.name.endswith(("ReplayBuffer", "RolloutBuffer", "ReplayMemory")):
        return True
    return (
        "__getitem__" in cls.methods and "__len__" in cls.methods and cls.name.endswith(("Dataset", "Data", "Loader"))
    )


_FACTORY = re.compile(
    r"instantiate\w*|init_obj|(?:build|create|make|object|instance)_from_(?:cfg|conf|config|dict)|locate|build_object|(?:construct|create|make|build)_\w+_by_name|create_object|get_instance|build_instance|from_cfg"
)


def is_factory(name: str) -> bool:
    """A function that builds what a section of the configuration names."""
    return _FACTORY.fullmatch(name) is not None


def is_loss_name(name: str) -> bool:
    return _LOSS.search(name) is not None and _NOT_LOSS.search(name) is None


def is_loss_class(index: Index, cls: Class) -> bool:
    return bool(_LOSS.search(cls.name)) or any(
        base.rpartition(".")[2].endswith("Loss") for base in index.external_bases(cls)
    )


def _is_made_by_name(one: object) -> bool:
    """hydra.utils.instantiate(cfg.model): the settings say what it is, not the library that makes it."""
    return isinstance(one, External) and is_factory(one.name.rpartition(".")[2])


def _is_any(held: Class | External) -> bool:
    """What eval() and getattr() give may be anything."""
    return isinstance(held, External) and held.name.startswith("builtins.")


def calls_network(values: Values, function: Function, call: Expr) -> bool:
    """The call runs a network: `model(x)`, `self.net.encode(x)`."""
    callee = call.parts[0]
    if callee.kind not in ("path", "attr", "index"):
        return False
    if callee.kind == "path":
        held = [one for one in values.of(function, callee) if not (_is_any(one) or _is_made_by_name(one))]
        if any(
            isinstance(one, Class) and is_network(values.index, one) and not is_loss_class(values.index, one)
            for one in held
        ):
            return True
        if held and all(
            isinstance(one, External)
            and not one.name.startswith(
                ("torch.nn", "torchvision.models", "timm", "transformers", "diffusers.", "peft.")
            )
            for one in held
        ):
            return False
        if targets := values.callables(function, callee):
            called = [one for one in targets if isinstance(one, Function)]
            return any(_runs_network(values.index, one) for one in called) or (
                any(not one.owner for one in called)
                and (is_forward_of(call) or is_handed_parameters(values, function, call))
            )
    if callee.kind == "index" and callee.parts[-1].kind == "string":  # self.model["generator"](x)
        return any(_NETWORK_NAMES.search(one) for one in (callee.parts[-1].text, callee.parts[0].last))
    return _NETWORK_NAMES.search(call.last or "") is not None and not (call.last or "x")[0].isupper() | (
        call.last in ("G", "D")
    )


def is_forward_of(call: Expr) -> bool:
    """transformer_forward(self.transformer, x): a function that is the forward of a network of another library."""
    first = call.arguments[0] if call.arguments else None
    named = first is not None and first.kind == "path" and _NETWORK_NAMES.search(first.last) is not None
    return named and _FORWARD.search(call.last) is not None


_FORWARD = re.compile(r"^(?!.*(?:step|backward|pass|epoch|loss)).*(?:^|_)forward(?:_|$)")


def is_handed_parameters(values: Values, function: Function, call: Expr) -> bool:
    """render(camera, gaussians): a function runs what has parameters and no forward of its own."""
    return any(
        isinstance(held, Class) and holds_parameters(values.index, held) and not values.index.method(held, "forward")
        for given in call.arguments
        if given.kind == "path"
        for held in values.of(function, given)
    )


_NOT_RUN = re.compile(
    r"^(?:parameters|state_dict|load|save|named|train|eval(?:uate)?$|to|buffers|zero_grad|get_(?!logits|pred)|set_|configure|from_|build|__init__|loss|compute_loss)"
)


def _runs_network(index: Index, method: Function) -> bool:
    """A method of a network by which data goes through it."""
    owner = index.class_of(method)
    return (
        owner is not None
        and is_network(index, owner)
        and _NOT_RUN.match(method.name) is None
        and len(method.parameters) > 1
    )


def calls_loss(values: Values, function: Function, call: Expr) -> bool:
    """The call computes a loss, or builds what computes one."""
    last = call.last
    if last and is_loss_name(last):
        return True
    if call.callee:
        for one in values.of(function, call.parts[0]):
            if isinstance(one, Class) and is_loss_class(values.index, one):
                return True
            if isinstance(one, External) and one.name.startswith("torch.nn.") and one.name.endswith("Loss"):
                return True
    return False
