"""Pictures of the page as pixels: brightness of parts, distances of colours."""

import struct
import zlib


def parts(rows, width, height):
    """The mean relative luminance of each part of a picture."""
    linear = [(c / 255 / 12.92) if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in range(256)]
    means = []
    for top in range(0, len(rows) - height + 1, height):
        for left in range(0, len(rows[0]) - width + 1, width):
            # Every third pixel of every third row is enough for a mean.
            seen = [rows[y][x] for y in range(top, top + height, 3) for x in range(left, left + width, 3)]
            means.append(sum(0.2126 * linear[r] + 0.7152 * linear[g] + 0.0722 * linear[b] for r, g, b in seen) / len(seen))
    return means


def png(data):
    """Rows of pixels of a PNG with 8 bits per channel."""
    at, packed = 8, b""
    while at < len(data):
        (length,), kind = struct.unpack(">I", data[at : at + 4]), data[at + 4 : at + 8]
        body = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, _, _, colour = struct.unpack(">IIBB", body[:10])
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    size = {2: 3, 6: 4}[colour]
    raw, rows, before = zlib.decompress(packed), [], bytearray(width * size)
    for start in range(0, len(raw), width * size + 1):
        line = bytearray(raw[start + 1 : start + 1 + width * size])
        for index in range(len(line)):
            left = line[index - size] if index >= size else 0
            up, corner = before[index], before[index - size] if index >= size else 0
            guess = left + up - corner
            nearest = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
            line[index] = (line[index] + [0, left, up, (left + up) // 2, nearest][raw[start]]) % 256
        rows.append([tuple(line[pixel : pixel + 3]) for pixel in range(0, len(line), size)])
        before = line
    return rows


def oklab(*rgb):
    red, green, blue = ((c / 255 / 12.92) if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in rgb)
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    middle = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )


def contrast(one, other):
    """The contrast of two colours, as WCAG defines it."""
    bright, dark = sorted((luminance(*one), luminance(*other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def luminance(*rgb):
    red, green, blue = ((c / 255 / 12.92) if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in rgb)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
