"""What torch operations do to a tensor's range and to its gradient, by name."""

from __future__ import annotations

from ..words import words

# range of the result, by last name of a function or tensor method
RANGE_OF_FUNCTION = {
    "softmax": "probability",
    "softmin": "probability",
    "gumbel_softmax": "probability",
    "masked_softmax": "probability",
    "log_softmax": "log-probability",
    "sigmoid": "sigmoid",
    "sigmoid_": "sigmoid",
    "expit": "sigmoid",
    "hardsigmoid": "sigmoid",
    "relu": "rectified",
    "relu_": "rectified",
    "relu6": "rectified",
    "linear": "logits",
    "conv1d": "logits",
    "conv2d": "logits",
    "conv3d": "logits",
    "bilinear": "logits",
}
# range of the result of calling a torch.nn layer, by class name
RANGE_OF_LAYER = {
    "Softmax": "probability",
    "Softmax2d": "probability",
    "Softmin": "probability",
    "LogSoftmax": "log-probability",
    "Sigmoid": "sigmoid",
    "Hardsigmoid": "sigmoid",
    "ReLU": "rectified",
    "ReLU6": "rectified",
    "Linear": "logits",
    "LazyLinear": "logits",
    "Bilinear": "logits",
    "Conv1d": "logits",
    "Conv2d": "logits",
    "Conv3d": "logits",
    "ConvTranspose1d": "logits",
    "ConvTranspose2d": "logits",
    "ConvTranspose3d": "logits",
}
# change the shape, place or type, not what the numbers mean
KEEPING = words(
    """
    view view_as reshape reshape_as permute transpose t squeeze unsqueeze squeeze_ unsqueeze_
    contiguous flatten unflatten expand expand_as repeat narrow select index_select swapaxes movedim
    moveaxis unfold ravel clone to cuda cpu float double half bfloat16 type type_as clamp clamp_
    clip clamp_min dropout dropout2d interpolate upsample upsample_bilinear rearrange nan_to_num
    flip roll masked_select gather take_along_dim chunk split unbind tensor_split cat concat
    concatenate stack hstack vstack retain_grad requires_grad_ register_hook identity broadcast_to
    atleast_1d atleast_2d data movedim
    """
)
# of these, those after which the axes may be others, or longer
RESHAPING = KEEPING - words(
    """
    contiguous clone to cuda cpu float double half bfloat16 type type_as clamp clamp_ clip clamp_min dropout dropout2d
    interpolate upsample upsample_bilinear nan_to_num retain_grad requires_grad_ register_hook identity
    """
)
RESHAPING_LAYERS = words("Flatten Unflatten Rearrange")
KEEPING_LAYERS = words(
    """
    Identity Dropout Dropout1d Dropout2d Dropout3d AlphaDropout Flatten Unflatten Upsample
    UpsamplingBilinear2d UpsamplingNearest2d Rearrange
    """
)
CUTTING_METHODS = frozenset(["item", "tolist", "numpy", "detach", "detach_", "asnumpy"])
CUTTING_BUILTINS = frozenset(["float", "int", "bool", "len", "round", "str"])
# torch functions that make a tensor out of plain numbers or out of a copy: no graph leads through them
COPYING = words(
    """
    tensor Tensor FloatTensor DoubleTensor HalfTensor LongTensor from_numpy scalar_tensor Variable
    """
)
FRESH = words(
    """
    zeros ones full empty rand randn randint arange linspace eye zeros_like ones_like full_like
    rand_like randn_like empty_like randperm normal new_zeros new_ones new_full new_tensor new_empty
    bernoulli multinomial argmax argmin argsort
    """
)
# comparisons and rounding: nothing flows back through them
STEPLIKE = words(
    """
    argmax argmin argsort eq ne gt lt ge le isnan isinf bool long int byte short
    """
)
PARAMETRISED_LAYERS = words(
    """
    Linear LazyLinear NonDynamicallyQuantizableLinear Bilinear Conv1d Conv2d Conv3d LazyConv1d LazyConv2d LazyConv3d
    ConvTranspose1d ConvTranspose2d ConvTranspose3d LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d
    BatchNorm1d BatchNorm2d BatchNorm3d LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d SyncBatchNorm LayerNorm
    GroupNorm RMSNorm Embedding EmbeddingBag RNN LSTM GRU RNNCell LSTMCell GRUCell RNNBase PReLU MultiheadAttention
    Transformer TransformerEncoder TransformerDecoder TransformerEncoderLayer TransformerDecoderLayer
    AdaptiveLogSoftmaxWithLoss
    """
)
NO_GRAD = frozenset(("no_grad", "inference_mode"))


def is_torch(name: str) -> bool:
    return name.startswith(("torch.", "?.torch"))


def is_torch_layer(name: str) -> bool:
    """Full name of a class of torch.nn that is a module: a layer, a container or a loss."""
    last = name.rpartition(".")[2]
    return name.startswith("torch.nn.") and last[:1].isupper() and last not in ("Parameter", "Module")


def is_loss_layer(name: str) -> bool:
    return is_torch_layer(name) and name.endswith("Loss")


def has_parameters(name: str) -> bool:
    """A torch.nn layer that surely owns trainable parameters, as long as no argument takes them from it."""
    return is_torch_layer(name) and name.rpartition(".")[2] in PARAMETRISED_LAYERS
