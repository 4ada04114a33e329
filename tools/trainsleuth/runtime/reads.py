"""What a call takes of a tensor: its values, or its shape alone."""

from .tensors import tensors_in

ABOUT = frozenset(
    {
        "size", "dim", "ndimension", "numel", "nelement", "__len__", "stride", "is_floating_point", "zeros_like", "ones_like",
        "empty_like", "full_like", "rand_like", "randn_like", "new_zeros", "new_ones", "new_empty", "new_full", "new_tensor",
    }
)  # fmt: skip
SAME = frozenset({"to", "float", "half", "double", "long", "int", "contiguous", "detach", "clone", "cuda", "cpu"})


def takes_shape_alone(torch, tensor, run):
    """Does `run()` ask for the tensor's shape, type or device, and for nothing else of it?"""
    same, taken = [tensor], set()

    class Watch(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            if any(one is known for one in tensors_in((args, kwargs)) for known in same):
                name = getattr(function, "__name__", "")
                if name in SAME or (name == "__get__" and isinstance(result, torch.Tensor)):
                    same.append(result)
                else:
                    taken.add("shape" if name in ABOUT or name == "__get__" else "values")
            return result

    with Watch():
        run()
    return taken == {"shape"}
