"""Write the handbook's PDF and DOCX from the text below, so that a change of them can be read in a diff.

python3 -m venv /tmp/documents && /tmp/documents/bin/pip install reportlab==5.1.0 python-docx==1.2.0
SOURCE_DATE_EPOCH=1780995600 /tmp/documents/bin/python examples/make_documents.py
"""

import datetime
from pathlib import Path

from docx import Document
from reportlab.lib import colors
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

HANDBOOK = Path(__file__).parent / "handbook"

PARALLELISM = """
A model that does not fit on one GPU must be split. Three ways of splitting exist, and each pays in another currency.

## Tensor parallelism

Tensor parallelism splits every weight matrix over the GPUs of a group, and each GPU computes a part of every layer. A
transformer layer needs two all-reduces in the forward pass, one after attention and one after the feed-forward block.
A model of 80 layers therefore makes 160 all-reduces for each decoding step. With a hidden size of 8,192 in BF16, each
all-reduce carries 16 KiB per token in the batch.

At a small batch these messages are so short that latency, not bandwidth, decides their cost. Keep a tensor-parallel
group inside one node, where NVLink joins the GPUs. Tensor parallelism divides the time to read the weights by the
number of GPUs, so it is the only one of the three that makes a single request faster.

## Pipeline parallelism

Pipeline parallelism gives each GPU a run of consecutive layers and passes the activations on. It needs little
bandwidth and works across nodes. With p stages and m micro-batches, the idle share of a pipeline is (p - 1) / (m + p -
1). Four stages with eight micro-batches stand idle 27% of the time. A single request gains nothing, because it still
visits every layer in order.

## Expert parallelism

Expert parallelism places the experts of a mixture-of-experts model on different GPUs and sends each token to the GPUs
of its experts. The exchange is an all-to-all, which grows with the number of tokens and suffers when one expert is
popular. Expert parallelism pays off at large batches, where every expert gets enough tokens to keep its matrices busy.

## Side by side

|

## A worked choice

Llama 3 70B in BF16 has 140 GB of weights. Two H100 GPUs hold the weights with 20 GB to spare, which is about 61,000
tokens of KV cache at 320 KiB per token. Four H100 GPUs leave 180 GB, nine times as much room for the cache at twice
the price. Doubling the GPUs of a replica can therefore be cheaper than running two replicas of half the size.

The number of KV heads must be divisible by the size of the tensor-parallel group, or KV heads must be copied. Llama 3
70B has 8 KV heads, so a group of 16 GPUs stores every KV head twice and wastes half of the cache.
"""

WAYS = [
    ["Way", "Exchange", "Where it runs well", "Helps one request"],
    ["Tensor", "2 all-reduces a layer", "within a node", "yes"],
    ["Pipeline", "1 send at a stage border", "across nodes", "no"],
    ["Expert", "2 all-to-alls a layer", "fast fabric, large batches", "no"],
]

BEFORE = [
    "Read the release notes of the new version and list every changed default.",
    "Check that siskin_kv_usage_ratio of the pool is under 0.80, because one replica will be missing during the "
    "rollout.",
    "Tell the channel #serving who rolls out what.",
]
STEPS = [
    "Upgrade one replica and give it 5% of the traffic for 30 minutes.",
    "Compare the P95 TTFT, the P99 inter-token latency and the preemptions of the canary with those of its neighbours.",
    "Compare the answers to the 50 prompts of the smoke set at temperature 0; a changed tokenizer or chat template "
    "shows here first.",
    "Drain the next replica with POST /drain and wait until its siskin_running_requests is 0.",
    "Restart the replica on the new version and wait until GET /ready answers 200.",
    "Repeat the last two steps, one replica at a time.",
]
STOP = [
    ("Signal on the canary", "Action"),
    ("P95 TTFT more than 20% above its neighbours", "hold, look at the changed defaults"),
    ("any ERR_KV_EXHAUSTED", "roll back, then lower --max-num-seqs"),
    ("different answers on more than 2 smoke prompts", "roll back and ask the model team"),
]
WHY = (
    "A restart empties the prefix cache of a replica, so its first minutes cost more prefill than usual. Restarting all "
    "replicas at once makes the whole pool cold at the same time. Draining lets the running streams end; the gateway "
    "waits at most 90 seconds for them before it cuts them off."
)


def write_pdf(path: Path) -> None:
    """Two pages, with a table on the second."""
    styles = getSampleStyleSheet()
    story = [Paragraph("How to split a model over GPUs", styles["Heading1"])]
    for block in PARALLELISM.strip().split("\n\n"):
        if block == "|":
            grid = [("GRID", (0, 0), (-1, -1), 0.5, colors.grey), ("FONTNAME", (0, 0), (-1, 0), "Helvetica-Bold")]
            story += [Table(WAYS, hAlign="LEFT", style=TableStyle(grid)), Spacer(1, 10)]
        elif block.startswith("## "):
            if block == "## Side by side":
                story.append(PageBreak())
            story.append(Paragraph(block[3:], styles["Heading2"]))
        else:
            story.append(Paragraph(block.replace("\n", " "), styles["BodyText"]))
    title, author = "How to split a model over GPUs", "Tomás Herrera"
    SimpleDocTemplate(str(path), title=title, author=author, creator="examples/make_documents.py").build(story)


def write_docx(path: Path) -> None:
    """Bullets, numbered steps and a table."""
    document = Document()
    properties = document.core_properties
    properties.title, properties.author = "Rolling out a new engine version", "Jonas Lindqvist"
    properties.created = properties.modified = datetime.datetime(2026, 6, 29, 9, 0)
    properties.comments = ""
    document.add_heading("Rolling out a new engine version", 0)
    document.add_paragraph(
        "This runbook takes a pool from one Siskin version to the next without a failed request. A rollout of the "
        "interactive pool takes about two hours."
    )
    for heading, style, lines in (("Before you start", "List Bullet", BEFORE), ("Steps", "List Number", STEPS)):
        document.add_heading(heading, 1)
        for line in lines:
            document.add_paragraph(line, style=style)
    document.add_heading("When to stop", 1)
    table = document.add_table(rows=0, cols=2, style="Table Grid")
    for signal, action in STOP:
        cells = table.add_row().cells
        cells[0].text, cells[1].text = signal, action
    document.add_heading("Why one at a time", 1)
    document.add_paragraph(WHY)
    document.save(str(path))


if __name__ == "__main__":
    write_pdf(HANDBOOK / "parallelism.pdf")
    write_docx(HANDBOOK / "rollout-runbook.docx")
