"""A line chart as SVG text. Our own, since no library draws one without a browser or a hundred megabytes."""

from collections.abc import Mapping, Sequence
from html import escape

_WIDTH, _HEIGHT, _LEFT, _TOP = 720, 360, 56, 48
_PLOT_W, _PLOT_H = _WIDTH - _LEFT - 24, _HEIGHT - _TOP - 64
_COLOURS = ("#1b6ca8", "#c2572b", "#3b7d3c", "#7a4fa3")


def line_chart(series: Mapping[str, Sequence[float | None]], labels: Sequence[str], *, title: str) -> str:
    """Lines of values between 0 and 1 over ``labels``, with a grid and a legend; None leaves a gap."""
    body = [_text(_LEFT, 24, title, size=15, weight="bold"), *_grid(), *_ticks(labels)]
    for n, (name, values) in enumerate(series.items()):
        colour = _COLOURS[n % len(_COLOURS)]
        body += _line(values, len(labels), colour)
        body.append(_text(_LEFT + 120 * n, _HEIGHT - 10, f"● {name}", colour=colour))
    frame = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif">'
    return "\n".join([frame, f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>', *body, "</svg>", ""])


def _x(place: int, count: int) -> float:
    return _LEFT + (_PLOT_W * place / (count - 1) if count > 1 else _PLOT_W / 2)


def _y(value: float) -> float:
    return _TOP + _PLOT_H * (1 - value)


def _text(x: float, y: float, text: str, *, size: int = 11, weight: str = "normal", colour: str = "#222") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" fill="{colour}">{escape(text)}</text>'
    )


def _grid() -> list[str]:
    lines = []
    for tenth in range(0, 11, 2):
        y = _y(tenth / 10)
        lines.append(f'<line x1="{_LEFT}" x2="{_LEFT + _PLOT_W}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        lines.append(_text(20, y + 4, f"{tenth / 10:.1f}"))
    return lines


def _ticks(labels: Sequence[str]) -> list[str]:
    step = max(1, len(labels) // 6)
    return [
        _text(_x(n, len(labels)) - 26, _TOP + _PLOT_H + 18, label, size=9)
        for n, label in enumerate(labels)
        if n % step == 0
    ]


def _line(values: Sequence[float | None], count: int, colour: str) -> list[str]:
    points = [(_x(n, count), _y(value)) for n, value in enumerate(values) if value is not None]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
    return [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>', *dots]
