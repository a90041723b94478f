"""Draws the pictures of the guides: lines of a terminal, and a window that is traced from its pixels.

A pixel belongs to the nearest of the window's few colours. Where a pixel mixes two, the line between them goes through
it, so that letters keep their shape.
"""
import collections
import functools
import math
import struct
import zlib
from base64 import b64encode
from xml.sax.saxutils import escape

# The desktop has twice as many pixels as a picture shows, and a traced point is exact to an eighth of a pixel.
SCALE, STEPS, NEAR = 2, 4, 70
WIDTH, COLUMNS, LINE = 720, 84, 18


def palette(rows):
    """The colours of which the window is made: the frequent ones that are not near another."""
    count, chosen = collections.Counter(colour for row in rows for colour in row), []
    for colour, number in count.most_common(500):
        if number < len(rows) * len(rows[0]) / 500:
            break
        if all(math.dist(colour, other) > NEAR for other in chosen):
            chosen.append(colour)
    return chosen


def surroundings(rows, colours):
    """For each pixel the colours that are frequent within two pixels of it, as bits: it is a mixture of those alone."""
    count = collections.Counter(colour for row in rows for colour in row)
    pure = {colour: 1 << min(range(len(colours)), key=lambda place: math.dist(colour, colours[place]))
            for colour, number in count.items() if number > len(rows) * len(rows[0]) / 1000}
    bits = [[pure.get(colour, 0) for colour in row] for row in rows]
    for _ in range(2):  # along the rows, then along the columns
        spread = []
        for row in bits:
            wide = [0, 0, *row, 0, 0]
            spread.append([a | b | c | d | e for a, b, c, d, e in zip(wide, wide[1:], wide[2:], wide[3:], wide[4:])])
        bits = [list(column) for column in zip(*spread)]
    return [[around or (1 << len(colours)) - 1 for around in row] for row in bits]


def outlines(heights):
    """The closed lines at height 0 in a grid of numbers, whose border is below 0 (marching squares)."""
    following = {}
    for y in range(len(heights) - 1):
        upper, lower = heights[y], heights[y + 1]
        for x in range(len(upper) - 1):
            corners = upper[x] > 0, upper[x + 1] > 0, lower[x + 1] > 0, lower[x] > 0
            if all(corners) or not any(corners):
                continue
            edges = (x, y, 1, 0), (x + 1, y, 0, 1), (x, y + 1, 1, 0), (x, y, 0, 1)
            crossed = [place for place in range(4) if corners[place] != corners[(place + 1) % 4]]
            for number, place in enumerate(crossed):
                if corners[place]:
                    following[edges[place]] = edges[crossed[(number + 1) % len(crossed)]]
    while following:
        edge, after = following.popitem()
        line = [edge]
        while after in following:
            line.append(after)
            after = following.pop(after)
        points = []
        for x, y, right, down in line:
            one, other = heights[y][x], heights[y + down][x + right]
            part = one / (one - other)
            points.append((x + right * part, y + down * part))
        yield points


def simplified(points, tolerance=0.2):
    """The points without those from which the line between others is hardly away (Douglas and Peucker)."""
    (x, y), (to_x, to_y) = points[0], points[-1]
    length = math.dist(points[0], points[-1])

    def away(point):
        if not length:
            return math.dist(point, points[0])
        return abs((to_x - x) * (point[1] - y) - (to_y - y) * (point[0] - x)) / length

    farthest = max(range(len(points)), key=lambda place: away(points[place]))
    if away(points[farthest]) <= tolerance:
        return [points[0], points[-1]]
    return simplified(points[:farthest + 1], tolerance)[:-1] + simplified(points[farthest:], tolerance)


def path(points):
    """A closed line as SVG writes it, in whole numbers relative to the point before."""
    whole = [(round(x * STEPS), round(y * STEPS)) for x, y in simplified(points + points[:1])[:-1]]
    steps = [(x - a, y - b) for (a, b), (x, y) in zip(whole, whole[1:]) if (x, y) != (a, b)]
    if len(steps) < 2:
        return ""
    return f"M{whole[0][0]} {whole[0][1]}l" + " ".join(f"{x} {y}" for x, y in steps).replace(" -", "-") + "z"


def traced(rows):
    """The window as SVG: its most frequent colour below, then a path for each other colour."""
    colours = palette(rows)
    seen = surroundings(rows, colours)

    @functools.cache
    def heights(colour, around):
        """How much nearer a pixel is to each colour than to the others around it: above 0 where it has that one."""
        away = [math.dist(colour, other) if around >> place & 1 else 300 for place, other in enumerate(colours)]
        return [min(away[:place] + away[place + 1:]) - away[place] for place in range(len(colours))]

    fields = [[heights(*pixel) for pixel in zip(row, around)] for row, around in zip(rows, seen)]
    inks = ["#%02x%02x%02x" % colour for colour in colours]
    scale = f"{1 / SCALE / STEPS:g}"
    drawn = [f'<rect width="{len(rows[0]) / SCALE:g}" height="{len(rows) / SCALE:g}" fill="{inks[0]}"/>',
             f'<g transform="scale({scale}) translate({-STEPS // 2} {-STEPS // 2})" fill-rule="evenodd">']
    for place in range(1, len(colours)):
        border = [-1.0] * (len(rows[0]) + 2)
        grid = [border] + [[-1.0] + [field[place] for field in row] + [-1.0] for row in fields] + [border]
        lines = "".join(map(path, outlines(grid)))
        drawn.append(f'<path fill="{inks[place]}" d="{lines}"/>')
    return "\n".join(drawn + ["</g>"])


def picture(title, lines, window):
    """A terminal with lines, of which those of a person begin with `$`, and a window below it."""
    text = [line[at:at + COLUMNS] for line in lines for at in range(0, max(len(line), 1), COLUMNS)]
    bottom = 16 + (len(text) * LINE + 24 if text else 0)
    width, height = (len(window[0]) / SCALE, len(window) / SCALE) if window else (0, 0)
    total, across = bottom + (height + 16 + 16 * bool(text) if window else 16), WIDTH if text else width + 32
    size = f'width="{across:g}" height="{total:g}"'
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {across:g} {total:g}" {size}>',
           f"<title>{escape(title)}</title>", f'<rect {size} rx="8" fill="#7c93a8"/>']
    if text:
        svg.append(f'<rect x="16" y="16" width="{WIDTH - 32}" height="{bottom - 16}" rx="6" fill="#1d2430"/>')
        svg.append('<g font-family="ui-monospace,DejaVu Sans Mono,Menlo,Consolas,monospace" font-size="13">')
        for number, line in enumerate(text):
            ink = "#ffffff" if line.startswith(("$ ", "> ")) else "#b9c6d3"
            y = 16 + 12 + 13 + number * LINE
            svg.append(f'<text x="28" y="{y}" fill="{ink}" xml:space="preserve">{escape(line)}</text>')
        svg.append("</g>")
    if window:
        svg += [f'<g transform="translate({across - 16 - width:g} {bottom + 16 * bool(text):g})">',
                f'<rect x="-1" y="-1" width="{width + 2:g}" height="{height + 2:g}" fill="#4d6072"/>',
                traced(window), "</g>"]
    return "\n".join(svg + ["</svg>", ""])


def framed(title, png, width, height):
    """A picture of a page, from the bytes of a PNG file of it."""
    size = f'width="{width + 32}" height="{height + 32}"'
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width + 32} {height + 32}" {size}>',
        f"<title>{escape(title)}</title>", f'<rect {size} rx="8" fill="#7c93a8"/>',
        f'<image x="16" y="16" width="{width}" height="{height}" href="data:image/png;base64,{b64encode(png).decode()}"/>',
        "</svg>", ""])


def typed(command):
    """A command as a person sees it on a terminal."""
    return ("$ " + command.strip().replace("\n", "\n> ")).split("\n")


def cut(text, most=12):
    """The first lines that a command printed."""
    lines = [line[at:at + COLUMNS] for line in text.splitlines() for at in range(0, max(len(line), 1), COLUMNS)]
    return lines if len(lines) <= most else [*lines[:most - 1], "…"]


def bread():
    """A loaf on a table, as PNG (W3C PNG, 11)."""
    def colour(x, y):
        if math.hypot((x - 48) / 40, (y - 52) / 24) > 1:
            return 0x2F, 0x6F, 0x8F
        if abs(y - 46) < 12 and any(abs(x - middle + (y - 46) / 2) < 4 for middle in (30, 48, 66)):
            return 0xF3, 0xD9, 0xA4
        return 0xB8, 0x6B, 0x2B

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes(value for x in range(96) for value in colour(x, y)) for y in range(96))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 96, 96, 8, 2, 0, 0, 0)) + chunk(
        b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
