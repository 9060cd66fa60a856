"""What a PDF shows besides the text of its pages: values of form fields, and comments."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from services.agent_orchestrator.ingest.layout import clean

if TYPE_CHECKING:
    from pypdfium2 import PdfPage

_MAX_ANNOTATIONS = 5000
_MAX_BYTES = 2 * 1024 * 1024


def page_notes(page: PdfPage, form: Any) -> Iterator[str]:
    """Yields the form values (`name: value`) and the comments of a page; `form` is the document's form, or None."""
    import pypdfium2.raw as raw_functions  # noqa: PLC0415 - needed only to read PDF

    # The library has no types for functions that it loads.
    pdfium: Any = raw_functions

    for index in range(min(pdfium.FPDFPage_GetAnnotCount(page), _MAX_ANNOTATIONS)):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        try:
            kind = pdfium.FPDFAnnot_GetSubtype(annotation)
            if kind == pdfium.FPDF_ANNOT_WIDGET:
                text = _field(pdfium, form, annotation) if form else ""
            elif kind in {pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP}:
                text = ""
            else:
                text = _text(pdfium.FPDFAnnot_GetStringValue, annotation, b"Contents")
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)
        if text:
            yield text


def _field(pdfium: Any, form: Any, annotation: Any) -> str:
    value = _text(pdfium.FPDFAnnot_GetFormFieldValue, form, annotation)
    is_box = pdfium.FPDFAnnot_GetFormFieldType(form, annotation) in {
        pdfium.FPDF_FORMFIELD_CHECKBOX,
        pdfium.FPDF_FORMFIELD_RADIOBUTTON,
    }
    if is_box and not pdfium.FPDFAnnot_IsChecked(form, annotation):
        return ""
    if (
        not value
        or pdfium.FPDFAnnot_GetFormFieldType(form, annotation) == pdfium.FPDF_FORMFIELD_PUSHBUTTON
    ):
        return ""
    name = _text(pdfium.FPDFAnnot_GetFormFieldAlternateName, form, annotation)
    name = name or _text(pdfium.FPDFAnnot_GetFormFieldName, form, annotation)
    return f"{name}: {value}" if name else value


def _text(function: Any, *arguments: Any) -> str:
    """Calls a function of PDFium that writes UTF-16 into a buffer of the size that it returns without one."""
    size = function(*arguments, None, 0)
    if size <= 2 or size > _MAX_BYTES:  # noqa: PLR2004 - the terminating character
        return ""
    buffer = ctypes.create_string_buffer(size)
    function(*arguments, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    return clean(buffer.raw[: size - 2].decode("utf-16-le", "replace")).strip()
