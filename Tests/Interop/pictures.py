"""Pictures that a test draws itself, without a library."""

import struct
import zlib

SIDE = 64
# What a decoder makes of the JPEG's own colour: Y 100, Cb 128, Cr 228 (ITU-T T.871).
JPEG_COLOUR = (240, 29, 100)


def jpeg(extra=0):
    """A baseline JPEG of `SIDE` pixels in `JPEG_COLOUR` (ITU-T T.81), with so many bytes of comment in it."""
    def segment(marker, body):
        return b"\xff" + bytes([marker]) + struct.pack(">H", len(body) + 2) + body

    head = segment(0xE0, b"JFIF\0\1\1\0\0\1\0\1\0\0")
    while extra > 0:
        head += segment(0xFE, bytes(min(extra, 60_000)))
        extra -= 60_000
    quantization = segment(0xDB, b"\0" + b"\1" * 64)
    frame = segment(0xC0, struct.pack(">BHHB", 8, SIDE, SIDE, 3) + b"\1\x11\0\2\x11\0\3\x11\0")
    # Twelve categories of differences, each a code of four bits; of the other coefficients only "there are none", one bit.
    tables = segment(0xC4, b"\0" + bytes([0, 0, 0, 12] + [0] * 12) + bytes(range(12)))
    tables += segment(0xC4, b"\x10" + bytes([1] + [0] * 15) + b"\0")
    scan = segment(0xDA, b"\3\1\0\2\0\3\0\0\x3f\0")

    def block(difference):
        size = abs(difference).bit_length()
        value = difference if difference >= 0 else difference + (1 << size) - 1
        return f"{size:04b}" + (f"{value:0{size}b}" if size else "") + "0"

    bits = "".join(block(8 * (value - 128)) for value in (100, 128, 228))
    bits += block(0) * 3 * ((SIDE // 8) ** 2 - 1)
    bits += "1" * (-len(bits) % 8)
    data = int(bits, 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\0")
    return b"\xff\xd8" + head + quantization + frame + tables + scan + data + b"\xff\xd9"


def riff(form, body):
    return b"RIFF" + struct.pack("<I", len(body) + 4) + form + body


def box(kind, body):
    return struct.pack(">I", len(body) + 8) + kind + body


# A file of each other format, as short as its begin allows: what it is, and Apple's type for it.
SOUNDS_AND_FILMS = {
    "bell.wav": (riff(b"WAVE", b"fmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8)
                      + b"data\x04\0\0\0\x80\x80\x80\x80"),
                 "com.microsoft.waveform-audio"),
    "bell.aiff": (b"FORM" + struct.pack(">I", 30) + b"AIFF" + b"COMM" + struct.pack(">I", 18) + bytes(18),
                  "public.aiff-audio"),
    "bell.mp3": (b"ID3\x04\0\0\0\0\0\0" + b"\xff\xfb\x90\x64" + bytes(413), "public.mp3"),
    "bell.m4a": (box(b"ftyp", b"M4A \0\0\0\0M4A isom") + box(b"mdat", bytes(64)), "com.apple.m4a-audio"),
    "film.mp4": (box(b"ftyp", b"isom\0\0\2\0isommp41") + box(b"mdat", bytes(64)), "public.mpeg-4"),
    "film.avi": (riff(b"AVI ", b"LIST\x04\0\0\0hdrl"), "public.avi"),
    "film.mpg": (b"\0\0\1\xba" + bytes(60), "public.mpeg"),
}


def png(width=64, height=64, colour=(0x20, 0x80, 0x40), noise=None):
    """A PNG of one colour; with `noise` (bytes), one that cannot be compressed, of about that size (W3C PNG, 11)."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    if noise is not None:
        height = max(1, len(noise) // (3 * width))
        rows = b"".join(b"\0" + noise[3 * width * y:3 * width * (y + 1)] for y in range(height))
    else:
        rows = (b"\0" + bytes(colour) * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 0)) + chunk(b"IEND", b"")
