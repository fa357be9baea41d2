"""Small documents of our own in binary formats, made by code so that a test shows what is in them."""

import io
import zipfile
from collections.abc import Mapping, Sequence

from kb_pipeline.records import RawDoc

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_A = "http://schemas.openxmlformats.org/drawingml/2006/main"
_P = "http://schemas.openxmlformats.org/presentationml/2006/main"
_S = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_RELS = "http://schemas.openxmlformats.org/package/2006/relationships"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_MAIN = "application/vnd.openxmlformats-officedocument"
_CORE = (
    '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><dc:title>Cache handbook</dc:title>'
    "<dc:creator>Ada Miller</dc:creator>"
    '<dcterms:modified xsi:type="dcterms:W3CDTF">2025-06-01T08:00:00Z</dcterms:modified></cp:coreProperties>'
)


def raw(name: str, content: bytes | str, *, media_type: str = "", uri: str = "") -> RawDoc:
    """An original named ``name`` in the source ``s``."""
    data = content.encode() if isinstance(content, str) else content
    return RawDoc(doc_id=f"s/{name}", source_id="s", name=name, uri=uri, content=data, media_type=media_type)


def archive(members: Mapping[str, str]) -> bytes:
    """A ZIP archive of texts."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as z:
        for name, text in members.items():
            z.writestr(name, text)
    return buffer.getvalue()


def _office(main: str, media_type: str, body: str, parts: Mapping[str, tuple[str, str]]) -> bytes:
    """An Office Open XML package: ``main`` holds ``body``; ``parts`` maps further paths to (media type, text)."""
    overrides = "".join(
        f'<Override PartName="/{path}" ContentType="{kind}"/>' for path, (kind, _) in parts.items() if kind
    )
    relations = f'<Relationship Id="r1" Type="{_R}/officeDocument" Target="{main}"/>'
    core = "http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties"
    relations += f'<Relationship Id="r2" Type="{core}" Target="docProps/core.xml"/>'
    return archive(
        {
            "[Content_Types].xml": f'<Types xmlns="{_TYPES}">'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Default Extension="xml" ContentType="application/xml"/>'
            f'<Override PartName="/{main}" ContentType="{media_type}"/>{overrides}</Types>',
            "_rels/.rels": f'<Relationships xmlns="{_RELS}">{relations}</Relationships>',
            main: body,
            "docProps/core.xml": _CORE,
            **{path: text for path, (_, text) in parts.items()},
        }
    )


def paragraph(text: str, style: str = "") -> str:
    """A paragraph of WordprocessingML, ``style`` such as ``Heading1``."""
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f'<w:p>{properties}<w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def word_table(rows: Sequence[Sequence[str]]) -> str:
    """A table of WordprocessingML."""
    cells = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def docx(*blocks: str) -> bytes:
    """A Word document of WordprocessingML blocks, titled "Cache handbook", by Ada Miller, of 2025-06-01."""
    body = f'<w:document xmlns:w="{_W}"><w:body>{"".join(blocks)}</w:body></w:document>'
    names = "".join(
        f'<w:style w:type="paragraph" w:styleId="Heading{n}"><w:name w:val="heading {n}"/>'
        f'<w:pPr><w:outlineLvl w:val="{n - 1}"/></w:pPr></w:style>'
        for n in (1, 2, 3)
    )
    styles = f'<w:styles xmlns:w="{_W}">{names}</w:styles>'
    kind = f"{_MAIN}.wordprocessingml"
    rels = (
        f'<Relationships xmlns="{_RELS}"><Relationship Id="s1" Type="{_R}/styles" Target="styles.xml"/></Relationships>'
    )
    return _office(
        "word/document.xml",
        f"{kind}.document.main+xml",
        body,
        {"word/styles.xml": (f"{kind}.styles+xml", styles), "word/_rels/document.xml.rels": ("", rels)},
    )


def pptx(slides: Sequence[tuple[str, Sequence[str]]]) -> bytes:
    """A presentation of (title, lines)."""
    kind = f"{_MAIN}.presentationml"
    parts: dict[str, tuple[str, str]] = {}
    ids, relations = "", ""
    for number, (title, lines) in enumerate(slides, start=1):
        texts = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in lines)
        shape = (
            '<p:sp><p:nvSpPr><p:cNvPr id="{id}" name="{kind}"/><p:cNvSpPr/><p:nvPr><p:ph type="{kind}"/></p:nvPr>'
            "</p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/>{text}</p:txBody></p:sp>"
        )
        heading = shape.format(id=2, kind="title", text=f"<a:p><a:r><a:t>{title}</a:t></a:r></a:p>")
        tree = heading + shape.format(id=3, kind="body", text=texts)
        slide = f'<p:sld xmlns:p="{_P}" xmlns:a="{_A}"><p:cSld><p:spTree>{tree}</p:spTree></p:cSld></p:sld>'
        parts[f"ppt/slides/slide{number}.xml"] = (f"{kind}.slide+xml", slide)
        ids += f'<p:sldId id="{255 + number}" r:id="s{number}"/>'
        relations += f'<Relationship Id="s{number}" Type="{_R}/slide" Target="slides/slide{number}.xml"/>'
    parts["ppt/_rels/presentation.xml.rels"] = (
        "",
        f'<Relationships xmlns="{_RELS}">{relations}</Relationships>',
    )
    body = f'<p:presentation xmlns:p="{_P}" xmlns:r="{_R}"><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>'
    return _office("ppt/presentation.xml", f"{kind}.presentation.main+xml", body, parts)


def xlsx(sheets: Mapping[str, Sequence[Sequence[str | float]]]) -> bytes:
    """A workbook: sheet name to rows of texts and numbers."""
    kind = f"{_MAIN}.spreadsheetml"
    parts: dict[str, tuple[str, str]] = {}
    names, relations = "", ""
    for number, (name, rows) in enumerate(sheets.items(), start=1):
        lines = ""
        for at, row in enumerate(rows, start=1):
            cells = ""
            for column, value in zip("ABCDEFGH", row, strict=False):
                cell = f'r="{column}{at}"'
                inline = f'<c {cell} t="inlineStr"><is><t>{value}</t></is></c>'
                cells += inline if isinstance(value, str) else f"<c {cell}><v>{value}</v></c>"
            lines += f'<row r="{at}">{cells}</row>'
        sheet = f'<worksheet xmlns="{_S}"><sheetData>{lines}</sheetData></worksheet>'
        parts[f"xl/worksheets/sheet{number}.xml"] = (f"{kind}.worksheet+xml", sheet)
        names += f'<sheet name="{name}" sheetId="{number}" r:id="s{number}"/>'
        relations += f'<Relationship Id="s{number}" Type="{_R}/worksheet" Target="worksheets/sheet{number}.xml"/>'
    parts["xl/_rels/workbook.xml.rels"] = ("", f'<Relationships xmlns="{_RELS}">{relations}</Relationships>')
    body = f'<workbook xmlns="{_S}" xmlns:r="{_R}"><sheets>{names}</sheets></workbook>'
    return _office("xl/workbook.xml", f"{kind}.sheet.main+xml", body, parts)


def epub(chapters: Sequence[str]) -> bytes:
    """An e-book of XHTML bodies, titled "Cache handbook", by Ada Miller."""
    items = "".join(
        f'<item id="c{n}" href="c{n}.xhtml" media-type="application/xhtml+xml"/>' for n in range(len(chapters))
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    page = '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body>{}</body></html>'
    return archive(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container version="1.0" '
            'xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="b.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
            "b.opf": '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="i">'
            '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="i">i</dc:identifier>'
            "<dc:title>Cache handbook</dc:title><dc:creator>Ada Miller</dc:creator><dc:language>en</dc:language>"
            f"</metadata><manifest>{items}</manifest><spine>{spine}</spine></package>",
            **{f"c{n}.xhtml": page.format(body) for n, body in enumerate(chapters)},
        }
    )


def odt(*paragraphs: str) -> bytes:
    """An OpenDocument text, the first paragraph a heading."""
    office, text = "urn:oasis:names:tc:opendocument:xmlns:office:1.0", "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
    head, *rest = paragraphs
    body = f'<text:h text:outline-level="1">{head}</text:h>' + "".join(f"<text:p>{p}</text:p>" for p in rest)
    return archive(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "META-INF/manifest.xml": "<manifest:manifest xmlns:manifest="
            '"urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>',
            "content.xml": f'<office:document-content xmlns:office="{office}" xmlns:text="{text}"><office:body>'
            f"<office:text>{body}</office:text></office:body></office:document-content>",
        }
    )


def pdf(pages: Sequence[Sequence[str]], *, title: str = "") -> bytes:
    """A PDF of lines of text in Helvetica, 14 points apart; an empty page is what a scan looks like."""
    count = len(pages)
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(count))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {count}>>".encode(),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for number, lines in enumerate(pages):
        shown = "".join(f"({line}) Tj T* " for line in lines)
        stream = f"BT /F1 11 Tf 14 TL 72 720 Td {shown}ET".encode()
        objects += [
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents {5 + 2 * number} 0 R"
            "/Resources<</Font<</F1 3 0 R>>>>>>".encode(),
            b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
        ]
    objects.append(f"<</Title({title})/ModDate(D:20250601080000Z)>>".encode())
    out, offsets = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj%s endobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    end = b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R/Info %d 0 R>>\nstartxref\n%d\n%%%%EOF\n"
    size = len(objects) + 1
    return bytes(out) + end % (size, table, size, size - 1, len(out))
