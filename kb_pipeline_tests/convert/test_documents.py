"""PDF, Office, e-books and mail: what a reader would miss, and what is refused with a reason."""

import io
import zipfile
from email.message import EmailMessage

import pypdf
import pytest

from kb_pipeline.convert import convert, hardly_any_text
from kb_pipeline.errors import ConversionError
from kb_pipeline_tests.convert.documents import archive, docx, epub, paragraph, pdf, pptx, raw, word_table, xlsx

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
M = "http://schemas.openxmlformats.org/officeDocument/2006/math"
SENTENCE = "The cache holds 512 entries and evicts the oldest one first."


def rezipped(package: bytes, name: str, text: str) -> bytes:
    """The package with one part replaced or added."""
    with zipfile.ZipFile(io.BytesIO(package)) as z:
        members = {m: z.read(m).decode() for m in z.namelist()}
    return archive({**members, name: text})


# --- PDF ---------------------------------------------------------------------------------------------------------


def test_a_pdf_gives_text_metadata_and_pages() -> None:
    """Title and last change from its own metadata, the number of pages for the status."""
    result = convert(raw("a.pdf", pdf([[SENTENCE], ["The server answers 429."]], title="Cache handbook")))
    assert result.text == f"{SENTENCE}\n\nThe server answers 429.\n"
    assert (result.title, result.effective_date, result.metadata["pages"]) == ("Cache handbook", "2025-06-01", 2)


def test_a_sentence_that_a_page_break_cuts_is_made_whole() -> None:
    """No quote ends in the middle because a page did; page numbers are no content."""
    pages = [["The cache holds 512 entries and", "1"], ["evicts the oldest one first.", "2"]]
    assert convert(raw("a.pdf", pdf(pages))).text.startswith("The cache holds 512 entries and")


def test_a_scan_is_hardly_any_text() -> None:
    """Pages without text convert to nothing: a status, never a success."""
    result = convert(raw("a.pdf", pdf([[], [], []])))
    assert hardly_any_text(result.text, result.metadata["pages"])


def test_a_pdf_with_an_owner_password_only_is_read() -> None:
    """What opens without a password needs none."""
    writer = pypdf.PdfWriter(io.BytesIO(pdf([[SENTENCE]])))
    writer.encrypt(user_password="", owner_password="secret", algorithm="AES-256")
    out = io.BytesIO()
    writer.write(out)
    assert SENTENCE in convert(raw("a.pdf", out.getvalue())).text


def test_a_pdf_that_needs_a_password_is_refused() -> None:
    """With the cure."""
    writer = pypdf.PdfWriter(io.BytesIO(pdf([[SENTENCE]])))
    writer.encrypt("secret")
    out = io.BytesIO()
    writer.write(out)
    with pytest.raises(ConversionError, match=r"password\. Save a copy without a password\."):
        convert(raw("a.pdf", out.getvalue()))


def test_a_pdf_bomb_is_refused_before_it_is_parsed() -> None:
    """Half a megabyte that inflates to hundreds does not reach a parser without bounds."""
    writer = pypdf.PdfWriter(io.BytesIO(pdf([[SENTENCE]])))
    stream = pypdf.generic.StreamObject()
    stream.set_data(b"q " * (60 << 20))
    writer.pages[0][pypdf.generic.NameObject("/Contents")] = writer._add_object(stream.flate_encode(9))
    out = io.BytesIO()
    writer.write(out)
    assert len(out.getvalue()) < 1 << 20
    with pytest.raises(ConversionError, match="inflate"):
        convert(raw("a.pdf", out.getvalue()))


def test_a_truncated_pdf_is_read_as_far_as_possible_or_refused() -> None:
    """A wrong table of contents is made anew; a file with none is refused, never a traceback."""
    broken = pdf([[SENTENCE]]).replace(b"startxref\n", b"startxref\n99")
    assert SENTENCE in convert(raw("a.pdf", broken)).text
    with pytest.raises(ConversionError, match="cannot be read"):
        convert(raw("a.pdf", b"%PDF-1.7\nnothing of the kind"))


# --- Office ------------------------------------------------------------------------------------------------------


def test_a_word_document_keeps_structure_and_metadata() -> None:
    """Headings, tables, people and the last change."""
    body = (paragraph("Cache", "Heading1"), paragraph(SENTENCE), paragraph("Sizes", "Heading2"))
    result = convert(raw("a.docx", docx(*body, word_table([["Name", "Size"], ["L1", "32 KB"]]))))
    assert result.text == f"# Cache\n\n{SENTENCE}\n\n## Sizes\n\n| Name | Size |\n| --- | --- |\n| L1 | 32 KB |\n"
    assert (result.title, result.authors, result.effective_date) == ("Cache handbook", ("Ada Miller",), "2025-06-01")


def test_a_word_document_keeps_what_stands_between_words() -> None:
    """Ampersands, comparisons, tags, breaks, tabs and non-breaking hyphens."""
    eu_west = "<w:t>eu</w:t><w:noBreakHyphen/><w:t>west</w:t>"
    run = f"<w:p><w:r><w:t>one</w:t><w:br/><w:t>two</w:t><w:tab/>{eu_west}</w:r></w:p>"
    text = convert(raw("a.docx", docx(paragraph("R&amp;D: p95 &lt; 5 ms &amp;amp; &gt; 1 &lt;b&gt;"), run))).text
    assert text == "R&D: p95 < 5 ms &amp; > 1 <b>\n\none two eu-west\n"


def test_a_list_made_by_style_is_a_list() -> None:
    """Word's own "List Bullet" says in its style that it is one."""
    style = (
        '<w:style w:type="paragraph" w:styleId="ListBullet"><w:name w:val="List Bullet"/><w:pPr><w:numPr>'
        '<w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
    )
    package = docx(paragraph("Drain it.", "ListBullet"), paragraph("Restart it.", "ListBullet"))
    styled = rezipped(package, "word/styles.xml", f'<w:styles xmlns:w="{W}">{style}</w:styles>')
    assert convert(raw("a.docx", styled)).text == "- Drain it.\n- Restart it.\n"


def test_an_equation_stays_in_its_sentence() -> None:
    """As TeX, where kreuzberg would move it in front of the paragraph."""
    power = "<m:sSup><m:e><m:r><m:t>10</m:t></m:r></m:e><m:sup><m:r><m:t>-6</m:t></m:r></m:sup></m:sSup>"
    half = "<m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f>"
    body = (
        f'<w:p><w:r><w:t xml:space="preserve">The gap is </w:t></w:r><m:oMath xmlns:m="{M}"><m:r><m:t>g=</m:t></m:r>'
        f'{power}{half}</m:oMath><w:r><w:t xml:space="preserve"> metres.</w:t></w:r></w:p>'
    )
    assert convert(raw("a.docx", docx(body))).text == "The gap is $g=10^{-6}\\frac{a}{2}$ metres.\n"


def test_deleted_words_are_gone() -> None:
    """Tracked changes read as if they were accepted."""
    deleted = "<w:del><w:r><w:delText>old</w:delText></w:r></w:del>"
    inserted = "<w:ins><w:r><w:t>new</w:t></w:r></w:ins>"
    text = convert(raw("a.docx", docx(f"<w:p>{deleted}{inserted}</w:p>"))).text
    assert "new" in text
    assert "old" not in text


def test_entities_of_a_word_document_are_not_resolved() -> None:
    """Neither nested ones that inflate nor ones that name a file of this machine."""
    nested = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    doctype = f'<!DOCTYPE d [<!ENTITY e0 "ha"><!ENTITY f SYSTEM "file:///etc/hostname">{nested}]>'
    body = f'{doctype}<w:document xmlns:w="{W}"><w:body>{paragraph(f"[&e9;&f;] {SENTENCE}")}</w:body></w:document>'
    try:
        text = convert(raw("a.docx", rezipped(docx(), "word/document.xml", body))).text
    except ConversionError:
        return
    assert "ha" not in text


def test_slides_and_sheets() -> None:
    """A slide is a heading with its text, a sheet a heading with its table."""
    slides = convert(raw("a.pptx", pptx([("Cache", [SENTENCE]), ("Limits", ["429 &amp; 503"])])))
    assert slides.text == f"## Cache\n\n{SENTENCE}\n\n## Limits\n\n429 & 503\n"
    sheets = convert(raw("a.xlsx", xlsx({"Limits": [["name", "value"], ["max_seq_len", 4096], ["a|b", 0.1]]})))
    assert sheets.text == "## Limits\n\n| name | value |\n| --- | --- |\n| max_seq_len | 4096 |\n| a\\|b | 0.1 |\n"
    assert sheets.source_type == "table"


@pytest.mark.parametrize("name", ["a.docx", "a.xlsx", "a.pptx", "a.epub", "a.odt"])
def test_a_truncated_archive_is_refused(name: str) -> None:
    """Whatever the format, the reason is the archive's."""
    with pytest.raises(ConversionError, match="truncated or damaged"):
        convert(raw(name, docx(paragraph(SENTENCE))[:-200]))


def test_a_document_that_inflates_is_refused() -> None:
    """A hundred megabytes of paragraphs in a few hundred kilobytes."""
    bomb = rezipped(docx(), "word/document.xml", "<x>" + "a" * (101 << 20))
    with pytest.raises(ConversionError, match="inflates to 101 MB"):
        convert(raw("a.docx", bomb))


def test_a_document_with_a_password_is_refused() -> None:
    """Office wraps an encrypted document in the old container."""
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600 + "EncryptedPackage".encode("utf-16-le") + b"\0" * 600
    with pytest.raises(ConversionError, match="password"):
        convert(raw("a.docx", ole))


# --- e-books -----------------------------------------------------------------------------------------------------


def test_an_e_book_is_read_in_order_with_its_structure() -> None:
    """Code, tables, definitions and nested lists of each chapter."""
    chapters = [
        "<h1>One</h1><pre><code>x = 1</code></pre><ul><li>a<ul><li>b</li></ul></li></ul>",
        "<h1>Two</h1><dl><dt>R&amp;D</dt><dd>10<sup>6</sup></dd></dl>",
    ]
    result = convert(raw("a.epub", epub(chapters)))
    assert result.text == "# One\n\n```\nx = 1\n```\n\n- a\n  - b\n\n# Two\n\n- R&D: 10^6\n"
    assert (result.title, result.authors) == ("Cache handbook", ("Ada Miller",))


def test_a_protected_e_book_is_refused() -> None:
    """Encrypted pages cannot be read; obfuscated fonts do not matter."""
    reference = '<encryption><CipherReference URI="{}"/></encryption>'
    book = epub([f"<p>{SENTENCE}</p>"])
    with pytest.raises(ConversionError, match="protected against copying"):
        convert(raw("a.epub", rezipped(book, "META-INF/encryption.xml", reference.format("c0.xhtml"))))
    fonts = convert(raw("a.epub", rezipped(book, "META-INF/encryption.xml", reference.format("f.otf"))))
    assert fonts.text == f"{SENTENCE}\n"


# --- mail --------------------------------------------------------------------------------------------------------


def mail(body: str, **headers: str) -> EmailMessage:
    """A message from Ada to Bo."""
    message = EmailMessage()
    for name, value in {"From": "Ada Miller <ada@example.com>", "To": "Bo <bo@example.com>", **headers}.items():
        message[name] = value
    message.set_content(body)
    return message


def test_a_mail_says_who_when_and_what() -> None:
    """Headers as a list, the body's line ends kept, attachments by name."""
    message = mail(
        "Hello Bo,\n\nit is 512.\n\nRegards\nAda", Subject="Size & limit", Date="Sun, 1 Jun 2025 08:00:00 +0000"
    )
    message.add_attachment(b"x", maintype="image", subtype="png", filename="plot.png")
    result = convert(raw("a.eml", message.as_bytes()))
    assert result.text == (
        "# Size & limit\n\n- From: Ada Miller <ada@example.com>\n- To: Bo <bo@example.com>\n"
        "- Date: Sun, 01 Jun 2025 08:00:00 +0000\n\nHello Bo,\n\nit is 512.\n\nRegards\nAda\n\nAttachments: plot.png\n"
    )
    assert (result.authors, result.effective_date, result.source_type) == (("Ada Miller",), "2025-06-01", "mail")


def test_a_mail_in_html_alone_is_rendered() -> None:
    """Nothing of a mail is taken for a page's frame."""
    message = mail("", Subject="Size")
    message.set_content("<p>It is <b>512</b>.</p><ul><li>a</li></ul>", subtype="html")
    assert "It is 512.\n\n- a\n" in convert(raw("a.eml", message.as_bytes())).text


def test_a_forwarded_mail_is_part_of_its_mail() -> None:
    """One level deeper, with its own headers."""
    outer = mail("See below.", Subject="Fwd: Size")
    outer.add_attachment(mail("It is 512.", Subject="Size"))
    text = convert(raw("a.eml", outer.as_bytes())).text
    assert "# Fwd: Size" in text
    assert "## Size" in text
    assert "It is 512." in text


def test_a_mailbox_is_read_message_by_message() -> None:
    """In order, with all who wrote."""
    box = b"".join(
        b"From x Sun Jun  1 08:00:00 2025\n" + mail(f"Number {n}.", Subject=f"S{n}").as_bytes() for n in (1, 2)
    )
    result = convert(raw("a.mbox", box))
    assert result.text.index("Number 1.") < result.text.index("Number 2.")
    assert (result.metadata["messages"], result.authors) == (2, ("Ada Miller",))


def test_what_is_no_mail_is_refused() -> None:
    """Prose under a mail's name."""
    with pytest.raises(ConversionError, match="not a mail"):
        convert(raw("a.eml", f"{SENTENCE}\n"))
