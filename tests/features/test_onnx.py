"""Weights that an ONNX network keeps in other files: all are hashed, none is outside its folder."""

import numpy as np
import pytest

from tradeoff import InvalidInputError
from tradeoff.data import Sample
from tradeoff.features import NetworkFile

pytestmark = pytest.mark.torch

WEIGHTS = np.arange(9, dtype=np.float32).reshape(3, 3)
IMAGE = np.full((4, 4, 3), 51, np.uint8)


def external(location, name="w"):
    """A tensor whose values are in another file."""
    from onnx import TensorProto

    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=WEIGHTS.shape)
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    return tensor


def save(path, *, initializers=(), constant=None, sparse=(), functions=()):
    """The mean of each channel, times a matrix: an initializer, or a constant in a branch."""
    import onnx
    from onnx import TensorProto, helper

    nodes = [helper.make_node("ReduceMean", ["x"], ["m"], axes=[2, 3], keepdims=0)]
    if constant is not None:
        branch = helper.make_graph(
            [helper.make_node("Constant", [], ["v"], value=constant)],
            "branch",
            [],
            [helper.make_tensor_value_info("v", TensorProto.FLOAT, WEIGHTS.shape)],
        )
        yes = helper.make_tensor("yes", TensorProto.BOOL, [], [True])
        nodes += [
            helper.make_node("Constant", [], ["yes"], value=yes),
            helper.make_node("If", ["yes"], ["w"], then_branch=branch, else_branch=branch),
        ]
    nodes.append(helper.make_node("MatMul", ["m", "w"], ["y"]))
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 4, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 3])],
        initializers,
        sparse_initializer=sparse,
    )
    opsets = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opsets, functions=functions)
    model.ir_version = 9
    onnx.save(model, path)


def features(path):
    encoder = NetworkFile(path, 4)
    return encoder.embed([encoder.prepare(Sample("0", IMAGE))])


def test_a_changed_byte_of_external_weights_changes_the_hash(tmp_path):
    """Under any name, in a folder below, and with brackets, which are patterns elsewhere."""
    for location in ("net[1].onnx.data", "odd name.weights", "parts/one.bin"):
        path, data = tmp_path / "net[1].onnx", tmp_path / location
        data.parent.mkdir(exist_ok=True)
        save(path, initializers=[external(location)])
        data.write_bytes(WEIGHTS.tobytes())
        np.testing.assert_allclose(features(path), 0.2 * WEIGHTS.sum(0)[None], rtol=1e-6)
        before = NetworkFile(path).weights
        content = bytearray(WEIGHTS.tobytes())
        content[7] ^= 1
        data.write_bytes(content)
        assert NetworkFile(path).weights != before


def test_external_weights_are_found_wherever_a_network_keeps_them(tmp_path):
    from onnx import SparseTensorProto, TensorProto, helper

    for name in ("constant", "values", "indices", "function"):
        (tmp_path / name).write_bytes(WEIGHTS.tobytes())
    node = helper.make_node("Constant", [], ["v"], value=external("function"))
    opsets = [helper.make_opsetid("", 17)]
    function = helper.make_function("own", "f", [], ["v"], [node], opsets)
    indices = external("indices")
    indices.data_type = TensorProto.INT64
    sparse = SparseTensorProto(values=external("values", "s"), indices=indices, dims=[9])
    path = tmp_path / "network.onnx"
    save(path, constant=external("constant"), sparse=[sparse], functions=[function])
    hashes = {NetworkFile(path).weights}
    for name in ("constant", "values", "indices", "function"):
        (tmp_path / name).write_bytes(b"changed")
        hashes.add(NetworkFile(path).weights)
    assert len(hashes) == 5


@pytest.mark.parametrize(
    "location", ["../secret", "/etc/passwd", "link", "C:\\secret", "sub/../../x"]
)
def test_weights_outside_the_folder_are_refused(location, tmp_path):
    inner = tmp_path / "model"
    inner.mkdir()
    (tmp_path / "secret").write_bytes(WEIGHTS.tobytes())
    (inner / "link").symlink_to(tmp_path / "secret")
    save(inner / "network.onnx", initializers=[external(location)])
    for use in (features, lambda path: NetworkFile(path).weights):
        with pytest.raises(InvalidInputError, match="must keep its weights in its own folder"):
            use(inner / "network.onnx")


def test_the_links_of_a_hub_cache_are_followed(tmp_path):
    """There, the network and its weights are links to files in one folder of contents."""
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshot"
    for folder in (blobs, snapshot):
        folder.mkdir()
    save(blobs / "1f", initializers=[external("network.onnx_data")])
    (blobs / "2e").write_bytes(WEIGHTS.tobytes())
    (snapshot / "network.onnx").symlink_to(blobs / "1f")
    (snapshot / "network.onnx_data").symlink_to(blobs / "2e")
    assert len(NetworkFile(snapshot / "network.onnx").weights) == 32


def test_missing_weights_are_named(tmp_path):
    save(tmp_path / "network.onnx", initializers=[external("gone.bin")])
    with pytest.raises(InvalidInputError, match="needs 'gone.bin', which holds its weights"):
        features(tmp_path / "network.onnx")
