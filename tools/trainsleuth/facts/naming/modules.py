"""What is a torch module, what it owns, and what the layers of a Sequential do in turn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..reading.scopes import bindings
from ..records import Class, Expr
from ..tensors.operations import has_parameters, is_torch_layer
from ..tracing.things import Instance, Spot
from ..words import words
from .names import External

if TYPE_CHECKING:
    from ..index import Index

_MODULE_BASES = words(
    """
    Module LightningModule MessagePassing PreTrainedModel Sequential ModuleList ModuleDict FairseqDecoder FairseqEncoder
    BaseFairseqModel ScriptModule GraphModule PyTorchModelHubMixin
    """
)


def is_module(index: Index, instance: Instance) -> bool:
    """Surely a torch.nn.Module."""
    if isinstance(instance.kind, External):
        return is_torch_layer(instance.kind.name)
    return is_module_class(index, instance.kind)


def is_module_class(index: Index, cls: Class) -> bool:
    bases = index.external_bases(cls)
    return any(
        base.rpartition(".")[2] in _MODULE_BASES or is_torch_layer(base)
        for base in bases
        if base.startswith(("torch", "lightning", "pytorch_lightning", "transformers", "fairseq", "pl."))
    )


def owns_parameters(index: Index, instance: Instance, depth: int = 4) -> bool:
    """Surely holds trainable parameters: a parametrised layer, or a module that sets one on itself."""
    if isinstance(instance.kind, External):
        if has_parameters(instance.kind.name):
            return True
        return any(owns_parameters(index, one, depth - 1) for one in _inside(index, instance) if depth)
    if not depth or not is_module_class(index, instance.kind):
        return False
    return any(owns_parameters(index, one, depth - 1) for one in _attributes(index, instance)) or _has_parameter(
        index, instance.kind
    )


def _inside(index: Index, instance: Instance) -> Iterator[Instance]:
    for member in index.members.of_thing(instance):
        for thing in index.objects.of(member.expr, member.spot):
            if isinstance(thing, Instance):
                yield thing


def _attributes(index: Index, instance: Instance) -> Iterator[Instance]:
    assert isinstance(instance.kind, Class)
    for cls in index.lineage(instance.kind):
        for method in cls.methods.values():
            for name, found in bindings(method).items():
                if method.self_name and name.startswith(f"{method.self_name}.") and name.count(".") == 1:
                    for binding in found:
                        if binding.kind != "assign" or binding.value is None or binding.items:
                            continue
                        for thing in index.objects.of(binding.value, Spot(method, binding.position)):
                            if isinstance(thing, Instance) and thing.kind is not instance.kind:
                                yield thing


def _has_parameter(index: Index, cls: Class) -> bool:
    for one in index.lineage(cls):
        for method in one.methods.values():
            for event in method.events:
                if any(_is_trained(call) for call in event.calls):
                    return True
    return False


def _is_trained(call: Expr) -> bool:
    if call.last not in ("Parameter", "register_parameter"):
        return False
    wants = call.keyword("requires_grad")
    return wants is None or wants.text != "False"
