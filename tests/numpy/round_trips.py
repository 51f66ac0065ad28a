"""Transposes arrays of NumPy's with `cornerturn transpose` and has NumPy read what comes out.

usage: round_trips.py PROGRAM

Prints how many arrays went well, or ends with the first one that did not.
"""

import io
import itertools
import pathlib
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy
from numpy.lib import format as npy

# Of dates and times, NumPy has a type for each unit, for any number of them, and without one.
KINDS = ["i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", "M8[ns]", "M8[25s]", "m8"]
DTYPES = ["|b1", "|i1", "|u1"] + [order + kind for kind in KINDS for order in "<>"]
SHAPES = {
    "square": (33, 33),
    "wide": (5, 70),
    "tall": (70, 5),
    "one row": (1, 37),
    "one column": (37, 1),
    "one element": (1, 1),
    "no rows": (0, 4),
    "no columns": (4, 0),
    "batch": (3, 17, 34),
    "batch of rows": (3, 1, 17),
    "batch of columns": (3, 17, 1),
    "batch of one": (1, 17, 34),
    "empty batch": (0, 3, 4),
}
# NumPy takes the oldest version that has room; what others write may have a newer one.
VERSIONS = [(1, 0), (2, 0), (3, 0)]


def array(dtype, shape, random):
    """Every bit random, so that values include NaNs with a payload, denormals and dates that are none."""
    dtype = numpy.dtype(dtype)
    count = int(numpy.prod(shape))
    most = 2 if dtype.kind == "b" else 256
    return random.integers(0, most, count * dtype.itemsize, numpy.uint8).view(dtype).reshape(shape)


def saved(array, order, version):
    """The file of an array. NumPy itself says Fortran order only where it differs from C order; here it always does."""
    file = io.BytesIO()
    npy.write_array(file, numpy.asarray(array, order=order), version=version)
    said, is_so = b"'fortran_order': False", b"'fortran_order': True "
    return file.getvalue().replace(said, is_so, 1) if order == "F" else file.getvalue()


def check(turned, array):
    """That the file `turned` holds the transpose, in C order, of the same type, and aligned as the format wants it."""
    expected = numpy.swapaxes(array, -1, -2)
    got = numpy.load(io.BytesIO(turned), allow_pickle=False)
    assert got.dtype == array.dtype and got.dtype.str == array.dtype.str, f"has the type {got.dtype.str}"
    assert got.shape == expected.shape, f"has the shape {got.shape}"
    assert got.tobytes() == expected.tobytes(), "has other elements"
    file = io.BytesIO(turned)
    version = npy.read_magic(file)
    _, fortran_order, _ = npy.read_array_header_1_0(file) if version == (1, 0) else npy.read_array_header_2_0(file)
    assert not fortran_order and got.flags.c_contiguous, "is not in C order"
    assert file.tell() % npy.ARRAY_ALIGN == 0, f"has elements from byte {file.tell()} on"


def run(program, arguments, stdin=None):
    """What the program prints."""
    command = [program, "transpose", "--device", "cpu", *arguments]
    done = subprocess.run(command, input=stdin, stdin=None if stdin else subprocess.DEVNULL, capture_output=True)
    assert done.returncode == 0 and not done.stderr, f"ended with {done.returncode}: {done.stderr.decode()}"
    return done.stdout


def through_files(program, folder, bytes):
    source, target = folder / "in.npy", folder / "out.npy"
    source.write_bytes(bytes)
    run(program, [source, target])
    return target.read_bytes()


def through_streams(program, _, bytes):
    return run(program, ["-", "-"], bytes)


def cases():
    """Every type, order and shape through files; a few through streams, and of newer versions."""
    for dtype, (shape, lengths), order in itertools.product(DTYPES, SHAPES.items(), "CF"):
        yield dtype, shape, lengths, order, VERSIONS[0], through_files
    some = itertools.product(["|b1", "<f4", ">c16"], ["wide", "no rows", "batch"], "CF")
    for (dtype, shape, order), version in itertools.product(some, VERSIONS):
        yield dtype, shape, SHAPES[shape], order, version, through_streams


def main(program):
    def one(numbered):
        number, (dtype, shape, lengths, order, version, through) = numbered
        source = array(dtype, lengths, numpy.random.default_rng(number))
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(through(program, pathlib.Path(folder), saved(source, order, version)), source)
            except Exception as error:
                way = through.__name__.replace("_", " ")
                what = f"{dtype} {shape} {lengths}, order {order}, version {version}, {way}"
                raise SystemExit(f"{what}: {type(error).__name__}: {error}") from error

    # The work is another process's: while one is waited for, the next is made ready.
    with ThreadPoolExecutor(2) as pool:
        print(sum(1 for _ in pool.map(one, enumerate(cases()))), "arrays")


main(*sys.argv[1:])
