"""The local models' files are the ones that Braid was built with; others are refused with a clear message."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from services.models.local.model_files import (
    BGE_SMALL,
    MINILM,
    MS_MARCO_MINILM,
    ModelFiles,
    ModelFilesInvalid,
)


@pytest.mark.parametrize("files", [MINILM, BGE_SMALL, MS_MARCO_MINILM], ids=lambda one: one.model)
def test_the_installed_packages_carry_the_expected_files(files: ModelFiles) -> None:
    assert (files.verified() / files.weights).stat().st_size > 30_000_000


def test_a_file_with_other_content_is_refused() -> None:
    other = replace(BGE_SMALL, digests={**BGE_SMALL.digests, "vocab.txt": "0" * 64})
    with pytest.raises(ModelFilesInvalid, match=r"bge-small.*vocab\.txt has another SHA-256"):
        other.verified()


def test_a_missing_file_is_named() -> None:
    other = replace(BGE_SMALL, digests={"none.onnx": "0" * 64})
    with pytest.raises(ModelFilesInvalid, match=r"none\.onnx is missing.*reinstall the package"):
        other.verified()


def test_a_missing_package_is_named() -> None:
    with pytest.raises(ModelFilesInvalid, match="package no-such-package is not installed"):
        replace(BGE_SMALL, package="no-such-package").verified()


def test_messages_have_no_path_of_the_machine() -> None:
    with pytest.raises(ModelFilesInvalid) as refused:
        replace(BGE_SMALL, digests={"none.onnx": ""}).verified()
    assert str(Path.cwd().anchor) not in str(refused.value)
