"""Which Debian package has a header, a program or a library.

From packages.debian.org's contents search, Debian 11 to 13 and Ubuntu 20.04 to 24.04 (the same names).
"""

from __future__ import annotations

from pathlib import PurePosixPath

COMPILER = "build-essential"

HEADERS = {
    "Python.h": "python3-dev",
    "portaudio.h": "portaudio19-dev",
    "sndfile.h": "libsndfile1-dev",
    "graphviz/cgraph.h": "libgraphviz-dev",
    "cgraph.h": "libgraphviz-dev",
    "mysql.h": "default-libmysqlclient-dev",
    "libpq-fe.h": "libpq-dev",
    "libxml/xmlversion.h": "libxml2-dev",
    "libxslt/xslt.h": "libxslt1-dev",
    "zlib.h": "zlib1g-dev",
    "bzlib.h": "libbz2-dev",
    "lzma.h": "liblzma-dev",
    "ffi.h": "libffi-dev",
    "openssl/ssl.h": "libssl-dev",
    "openssl/opensslv.h": "libssl-dev",
    "hdf5.h": "libhdf5-dev",
    "Eigen/Dense": "libeigen3-dev",
    "boost/config.hpp": "libboost-all-dev",
    "jpeglib.h": "libjpeg-dev",
    "ft2build.h": "libfreetype6-dev",
    "cairo.h": "libcairo2-dev",
    "gmp.h": "libgmp-dev",
    "mpi.h": "libopenmpi-dev",
    "sasl/sasl.h": "libsasl2-dev",
    "curl/curl.h": "libcurl4-openssl-dev",
    "cblas.h": "libopenblas-dev",
    "hunspell.hxx": "libhunspell-dev",
    "snappy-c.h": "libsnappy-dev",
    "snappy.h": "libsnappy-dev",
    "yaml.h": "libyaml-dev",
    "sqlite3.h": "libsqlite3-dev",
    "ncurses.h": "libncurses-dev",
    "curses.h": "libncurses-dev",
    "X11/Xlib.h": "libx11-dev",
    "GL/gl.h": "libgl-dev",
}

PROGRAMS = {
    "gcc": COMPILER,
    "cc": COMPILER,
    "c++": COMPILER,
    "g++": COMPILER,
    "x86_64-linux-gnu-gcc": COMPILER,
    "x86_64-linux-gnu-g++": COMPILER,
    "aarch64-linux-gnu-gcc": COMPILER,
    "make": COMPILER,
    "cmake": "cmake",
    "ninja": "ninja-build",
    "gfortran": "gfortran",
    "f77": "gfortran",
    "git": "git",
    "git-lfs": "git-lfs",
    "wget": "wget",
    "curl": "curl",
    "unzip": "unzip",
    "bzip2": "bzip2",
    "xz": "xz-utils",
    "swig": "swig",
    "pkg-config": "pkg-config",
    "pg_config": "libpq-dev",
    "mysql_config": "default-libmysqlclient-dev",
    "mariadb_config": "default-libmysqlclient-dev",
    "xslt-config": "libxslt1-dev",
    "llvm-config": "llvm-dev",
    "java": "default-jre-headless",
    "javac": "default-jdk-headless",
    "ffmpeg": "ffmpeg",
    "sox": "sox",
    "perl": "perl",
    "protoc": "protobuf-compiler",
    "rustc": "rustc",
    "cargo": "cargo",
    "patch": "patch",
    "file": "file",
    "sudo": "sudo",
}

LIBRARIES = {
    "libGL.so.1": "libgl1",
    "libEGL.so.1": "libegl1",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libSM.so.6": "libsm6",
    "libICE.so.6": "libice6",
    "libX11.so.6": "libx11-6",
    "libXext.so.6": "libxext6",
    "libXrender.so.1": "libxrender1",
    "libxcb.so.1": "libxcb1",
    "libsndfile.so": "libsndfile1",
    "libsndfile.so.1": "libsndfile1",
    "libsox.so": "libsox-dev",
    "libgomp.so.1": "libgomp1",
    "libgfortran.so.5": "libgfortran5",
    "libopenblas.so.0": "libopenblas0",
    "libmpi.so.40": "libopenmpi3",
    "libmagic.so.1": "libmagic1",
    "libcairo.so.2": "libcairo2",
    "libpango-1.0.so.0": "libpango-1.0-0",
    "libtk8.6.so": "libtk8.6",
    "libpq.so.5": "libpq5",
    "libaio.so.1": "libaio1",
    "libhunspell-1.7.so.0": "libhunspell-1.7-0",
    "libenchant-2.so.2": "libenchant-2-2",
    "libportaudio.so.2": "libportaudio2",
    "libstdc++.so.6": "libstdc++6",
    "libyaml-0.so.2": "libyaml-0-2",
}

MODULES = {"tkinter": "python3-tk", "_tkinter": "python3-tk", "distutils": "python3-distutils"}
"""Parts of the standard library that Debian has in packages of their own."""


def header(name: str) -> str:
    """The package with a C header, "" when it is not known."""
    return HEADERS.get(name) or HEADERS.get(PurePosixPath(name).name, "")


def program(name: str) -> str:
    """The package with a program, "" when it is not known."""
    return PROGRAMS.get(PurePosixPath(name).name, "")
