"""Reads the weights of a BERT model as float32, by the names that Hugging Face's checkpoints use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from safetensors.numpy import load_file

from services.models.embedding.vectors import Matrix

Weights = dict[str, Matrix]
_Field = descriptor_pb2.FieldDescriptorProto

# The part of ONNX's schema that is read here, as (field, number, type, repeated); other fields are skipped.
_INT32, _INT64 = _Field.TYPE_INT32, _Field.TYPE_INT64
_FLOAT, _STRING, _BYTES = _Field.TYPE_FLOAT, _Field.TYPE_STRING, _Field.TYPE_BYTES
_SCHEMA: dict[str, list[tuple[str, int, _Field.Type.ValueType | str, bool]]] = {
    "Tensor": [
        ("dims", 1, _INT64, True),
        ("data_type", 2, _INT32, False),
        ("float_data", 4, _FLOAT, True),
        ("int32_data", 5, _INT32, True),
        ("name", 8, _STRING, False),
        ("raw_data", 9, _BYTES, False),
    ],
    "Node": [
        ("input", 1, _STRING, True),
        ("name", 3, _STRING, False),
        ("op_type", 4, _STRING, False),
    ],
    "Graph": [("node", 1, "Node", True), ("initializer", 5, "Tensor", True)],
    "Model": [("graph", 7, "Graph", False)],
}
_TYPES: dict[int, npt.DTypeLike] = {1: np.float32, 2: np.uint8, 3: np.int8}
_PREFIX = "bert."
_QUANTIZED, _NUMBERED = "_quantized", "onnx::"


def read_weights(path: Path) -> Weights:
    """Reads a safetensors file, or an ONNX file whose matrices are quantized dynamically.

    Raises OSError, KeyError or ValueError if it is no such file.
    """
    if path.suffix == ".safetensors":
        return load_file(path)
    return _read_onnx(path)


def _read_onnx(path: Path) -> Weights:
    model = _message_class()()
    model.ParseFromString(path.read_bytes())
    tensors = {tensor.name: tensor for tensor in model.graph.initializer}
    found = {name: _array(tensor) for name, tensor in tensors.items() if tensor.data_type == 1}
    for name in [name.removesuffix(_QUANTIZED) for name in tensors if name.endswith(_QUANTIZED)]:
        found[name] = _dequantized(tensors, name)
    # The exporter stores a layer's matrix transposed, and names most by a number and their node by the layer.
    for node in model.graph.node:
        name = node.input[1].removesuffix(_QUANTIZED) if node.op_type == "MatMulInteger" else ""
        if name in found:
            matrix = found.pop(name)
            layer = node.name.removesuffix("/MatMul_quant").strip("/").replace("/", ".")
            found[f"{layer}.weight" if name.startswith(_NUMBERED) else name] = matrix.T
    return {
        name.removeprefix(_PREFIX): np.ascontiguousarray(value) for name, value in found.items()
    }


def _dequantized(tensors: dict[str, Any], name: str) -> Matrix:
    values, zero, scale = (
        _array(tensors[f"{name}_{part}"]).astype(np.float32)
        for part in ("quantized", "zero_point", "scale")
    )
    return np.asarray((values - zero) * scale, dtype=np.float32)


def _array(tensor: Any) -> npt.NDArray[Any]:
    kind = _TYPES[tensor.data_type]
    if tensor.raw_data:
        return np.frombuffer(tensor.raw_data, kind).reshape(tensor.dims)
    return np.array(tensor.float_data or tensor.int32_data, kind).reshape(tensor.dims)


def _message_class() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="onnx.proto", package="onnx", syntax="proto3")
    for message, fields in _SCHEMA.items():
        added = file.message_type.add(name=message)
        for name, number, kind, repeated in fields:
            field = added.field.add(
                name=name,
                number=number,
                label=_Field.LABEL_REPEATED if repeated else _Field.LABEL_OPTIONAL,
            )
            if isinstance(kind, str):
                field.type, field.type_name = _Field.TYPE_MESSAGE, f".onnx.{kind}"
            else:
                field.type = kind
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("onnx.Model"))
