# ===- report.py - rows as text, table and picture -------------------- === #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
"""What a run prints and writes."""

import html


def machine_line(machine):
    return (
        f"{machine['cpu']} ({' '.join(machine['features'])}): "
        f"{machine['gflops']:.0f} GFLOP/s and {machine['gbytes']:.1f} GB/s a thread"
    )


def verdict(row):
    if row["ratio"] is None:
        return "no peer"
    if not row["exact"]:
        return "NOT EXACT"
    if row["target"] is None:
        return ""
    return "ok" if row["ratio"] >= row["target"] else "below"


def share(row):
    if row["is_memory_bound"]:
        return f"{row['gbytes']:.1f} GB/s, {100 * row['of_bandwidth']:.0f} % of reading"
    return f"{row['gflops']:.0f} GFLOP/s, {100 * row['of_peak']:.0f} % of peak"


def text_row(row):
    peers = ", ".join(f"{name} {ms:.3f}" for name, ms in row["peers"].items())
    ratio = "-" if row["ratio"] is None else f"{row['ratio']:.2f}"
    return (
        f"{row['name']}, {row['threads']} T: {row['ours_ms']:.3f} ms ({share(row)}); "
        f"{peers}; ratio {ratio} of {row['target'] or '-'} {verdict(row)}"
    )


def markdown(machine, rows):
    out = [
        machine_line(machine),
        "",
        "Times in milliseconds, the minimum of alternating runs. A ratio is the best peer's time by ours.",
        "",
        "| line | threads | ours | torch | ONNX Runtime | OpenVINO | our f32 | ratio | asked for | share of the ceiling | error | workspace | compiled in |",
        "|" + 13 * "---|",
    ]
    for row in rows:
        peers = [row["peers"].get(name) for name in ("torch", "onnxruntime", "openvino", "ours-f32")]
        cells = [
            row["name"],
            str(row["threads"]),
            f"{row['ours_ms']:.3f}",
            *("-" if ms is None else f"{ms:.3f}" for ms in peers),
            "-" if row["ratio"] is None else f"{row['ratio']:.2f}",
            f"{row['target'] or '-'} {verdict(row)}".strip(),
            share(row),
            f"{row['error']:.1e}",
            f"{row['workspace']} B",
            f"{row['compile_s']:.1f} s",
        ]
        out.append("| " + " | ".join(cells) + " |")
    return "\n".join(out) + "\n"


def picture(machine, rows):
    """A bar a row: the ratio, with a mark where it should be."""
    rows = [row for row in rows if row["ratio"] is not None]
    left, width, step = 360, 420, 22
    most = max([2.0, *(row["ratio"] for row in rows), *(row["target"] or 0 for row in rows)])
    height = 60 + step * len(rows)
    at = lambda ratio: left + width * ratio / most
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 70}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        f'<text x="10" y="18">{html.escape(machine_line(machine))}</text>',
        '<text x="10" y="36" fill="#555">best peer\'s time / ours; the line is 1, the mark what is asked for</text>',
    ]
    for n, row in enumerate(rows):
        y = 50 + step * n
        good = row["target"] is None or row["ratio"] >= row["target"]
        color = "#4a7fb5" if good else "#c9762b"
        label = f"{row['name']}, {row['threads']} T"
        parts.append(f'<text x="{left - 8}" y="{y + 12}" text-anchor="end">{html.escape(label)}</text>')
        parts.append(
            f'<rect x="{left}" y="{y}" width="{at(row["ratio"]) - left:.1f}" height="15" fill="{color}"/>'
        )
        parts.append(f'<text x="{at(row["ratio"]) + 5:.1f}" y="{y + 12}">{row["ratio"]:.2f}</text>')
        if row["target"]:
            x = at(row["target"])
            parts.append(f'<path d="M{x:.1f} {y - 2}v19" stroke="#222" stroke-width="2"/>')
    parts.append(f'<path d="M{at(1):.1f} 44V{height - 8}" stroke="#888" stroke-dasharray="3 3"/>')
    return "\n".join([*parts, "</svg>", ""])
