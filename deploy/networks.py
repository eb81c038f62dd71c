"""PyTorch modules as ONNX networks, whole and with weights of eight bits."""

import logging
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

OPSET = 17
EIGHT_BIT = "int8"


def export_network(
    module: "torch.nn.Module", inputs: Sequence[str], output: str, network: Path
) -> None:
    """Write a module that maps token arrays (batch, tokens) to one array (batch, …)."""
    import torch

    def example(name: str) -> "torch.Tensor":
        return torch.full((2, 8), int(name != "token_type_ids"), dtype=torch.long)

    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # tracer warnings about shapes that stay dynamic
        torch.onnx.export(
            module.eval(),
            tuple(example(name) for name in inputs),
            str(network),
            input_names=list(inputs),
            output_names=[output],
            dynamic_axes={name: {0: "batch", 1: "tokens"} for name in inputs}
            | {output: {0: "batch"}},
            opset_version=OPSET,
            dynamo=False,
        )


def quantize_network(network: Path, target: Path, *, heads: int, width: int) -> None:
    """Write the network with fused layers and weights of eight bits.

    The scale is one per channel: one per layer would ruin the vectors. The weights keep to seven
    bits, so that sums do not overflow on processors without instructions for eight, and every
    processor gives the same vectors.
    """
    from onnx import TensorProto
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from onnxruntime.transformers.optimizer import optimize_model

    with tempfile.TemporaryDirectory(dir=target.parent) as scratch, _quiet():
        fused = optimize_model(
            str(network), model_type="bert", num_heads=heads, hidden_size=width, opt_level=0
        )
        intermediate = Path(scratch) / "fused.onnx"
        fused.save_model_to_file(str(intermediate))
        quantize_dynamic(
            intermediate,
            target,
            op_types_to_quantize=["MatMul", "Attention"],
            per_channel=True,
            reduce_range=True,
            weight_type=QuantType.QInt8,
            # Fused layers have types that shape inference does not know.
            extra_options={"DefaultTensorType": TensorProto.FLOAT},
        )


@contextmanager
def _quiet() -> Iterator[None]:
    """Advice about preparing networks for other processors is of no use here."""
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)
