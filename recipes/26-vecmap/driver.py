"""Map random embeddings of two languages, of which the second is the first one rotated, with noise."""

import pathlib
import sys
import tempfile

import numpy as np

import map_embeddings

folder = pathlib.Path(tempfile.mkdtemp())


def write(name, matrix):
    path = folder / name
    with open(path, "w", encoding="utf-8") as file:
        print(*matrix.shape, file=file)
        for number, row in enumerate(matrix):
            print(f"{name}{number}", *(f"{value:.6f}" for value in row), file=file)
    return str(path)


def run(x, z, *options):
    sys.argv = ["map_embeddings.py", write("src", x), write("trg", z), str(folder / "a"), str(folder / "b")]
    sys.argv += ["--init_unsupervised", "--orthogonal", *options]
    map_embeddings.main()
    print((folder / "a").read_text("utf-8")[:60].split("\n")[:2])


for seed, (words, others, size, noise) in enumerate([(14, 14, 6, 0.1), (20, 16, 8, 0.4), (12, 18, 5, 0.8)]):
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 1, (words, size)) * np.linspace(1.5, 0.5, size) + 0.3
    rotation = np.linalg.qr(rng.normal(0, 1, (size, size)))[0]
    z = x[rng.permutation(words)[:others]] @ rotation
    if others > words:
        z = np.concatenate([z, rng.normal(0, 1, (others - words, size))])
    z = z + noise * rng.normal(0, 1, z.shape)
    for direction in ("forward", "backward", "union"):
        run(x, z, "--direction", direction, "--normalize", "unit", "center", "unit")
        run(x, z, "--direction", direction, "--normalize", "unit", "--csls", "3", "--unsupervised_vocab", "9")
        run(x, z, "--direction", direction, "--csls", "5")
    run(x, z, "--normalize", "unit", "center", "--unsupervised_vocab", "50", "--csls", "2")
    run(x, z, "--precision", "fp64", "--normalize", "center", "unitdim")
    run(x, z, "--precision", "fp64", "--unsupervised_vocab", "7")
