"""Turns a printed paper into one that looks scanned: pictures of pages, no text layer."""

import io

import pypdfium2 as pdfium
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from deploy.demo.content import NOTICE

_DOTS_PER_POINT = 2.0
_TILT_DEGREES = 0.35
_BLACK_BELOW = 150


def picture_of(pdf: bytes, title: str) -> bytes:
    """Return a PDF that holds only slightly tilted black-and-white pictures of the pages."""
    stream = io.BytesIO()
    canvas = Canvas(stream, invariant=1, pageCompression=1)
    canvas.setTitle(title)
    canvas.setSubject(NOTICE)
    document = pdfium.PdfDocument(pdf)
    try:
        for page in document:
            width, height = page.get_size()
            canvas.setPageSize((width, height))
            picture = _photograph(page.render(scale=_DOTS_PER_POINT, grayscale=True).to_pil())
            canvas.drawImage(ImageReader(picture), 0, 0, width, height)
            canvas.showPage()
    finally:
        document.close()
    canvas.save()
    return stream.getvalue()


def _photograph(page: Image.Image) -> Image.Image:
    tilted = page.convert("L").rotate(
        _TILT_DEGREES, resample=Image.Resampling.BICUBIC, fillcolor=255
    )
    return tilted.point(lambda level: 0 if level < _BLACK_BELOW else 255)
