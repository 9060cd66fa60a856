"""Converted models are built once, shared, and never visible before they are complete."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from services.models.embedding.local import LocalEmbedder
from services.models.embedding.local_models import LOCAL_MODELS
from services.models.local.model_folder import built


def write(folder: Path) -> None:
    (folder / "model.bin").write_text("weights")


def corrupt(folder: Path) -> None:
    [model] = folder.glob("*/model.bin")
    model.write_bytes(b"torn by a full disk")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_model_is_built_once(tmp_path: Path) -> None:
    builds: list[Path] = []

    def build(target: Path) -> None:
        builds.append(target)
        write(target)

    for _ in range(3):
        with built(tmp_path / "a" / "b", "m", build) as path:
            assert (path / "model.bin").read_text() == "weights"
    assert len(builds) == 1
    assert names(tmp_path / "a" / "b") == ["m"]


def test_a_failed_build_leaves_no_files(tmp_path: Path) -> None:
    def fail(target: Path) -> None:
        write(target)
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"), built(tmp_path, "m", fail):
        pass
    assert names(tmp_path) == []


def test_concurrent_builders_all_get_a_complete_model(tmp_path: Path) -> None:
    barrier = threading.Barrier(4, timeout=10)
    seen: list[str] = []

    def build(target: Path) -> None:
        barrier.wait()  # all threads build
        write(target)

    def use() -> None:
        with built(tmp_path, "m", build) as path:
            seen.append((path / "model.bin").read_text())

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10)
    assert seen == ["weights"] * 4
    assert names(tmp_path) == ["m"]


def test_an_unwritable_folder_is_replaced_by_a_temporary_one(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    with built(blocked / "models", "m", write) as path:
        assert (path / "model.bin").exists()
    assert not path.exists()


def test_a_broken_model_is_rebuilt_on_request(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "model.bin").write_text("torn")
    with built(tmp_path, "m", write, again=True) as path:
        assert path == tmp_path / "m"
        assert (path / "model.bin").read_text() == "weights"
    assert names(tmp_path) == ["m"]


async def test_a_damaged_model_is_converted_again(tmp_path: Path) -> None:
    for _ in range(2):
        embedder = LocalEmbedder(LOCAL_MODELS["all-MiniLM-L6-v2"], tmp_path, workers=1)
        assert (await embedder.embed(["hello"])).shape == (1, 384)
        await embedder.close()
        corrupt(tmp_path)
