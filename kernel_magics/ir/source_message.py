"""Sources, and what is wrong with them, as messages between processes."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from kernel_magics.errors import Diagnostic, FormatError, ParseError, SourceError
from kernel_magics.ir.source import Source


def source_message(source: Source) -> tuple[dict[str, Any], bytes]:
    """A source as what JSON can say, and its content."""
    content = source.content
    is_text = isinstance(content, str)
    head = {"is_text": is_text, "name": source.name, "first_line": source.first_line}
    return head, content.encode(errors="surrogatepass") if is_text else content


def read_source_message(head: Mapping[str, Any], content: bytes) -> Source:
    """The source that `source_message` was given."""
    text = content.decode(errors="surrogatepass") if head["is_text"] else content
    return Source(text, head["name"], head["first_line"])


def error_message(error: SourceError) -> dict[str, Any]:
    """An error as what JSON can say."""
    diagnostics = error.diagnostics if isinstance(error, ParseError) else ()
    return {
        "is_parse_error": isinstance(error, ParseError),
        "what": error.what,
        "where": error.where,
        "details": error.details,
        "advice": error.advice,
        "diagnostics": [asdict(diagnostic) for diagnostic in diagnostics],
    }


def read_error_message(message: Mapping[str, Any]) -> SourceError:
    """The error that `error_message` was given."""
    kind = ParseError if message["is_parse_error"] else FormatError
    error = kind(
        message["what"],
        where=message["where"],
        details=message["details"],
        advice=message["advice"],
    )
    if isinstance(error, ParseError):
        error.diagnostics = tuple(Diagnostic(**fields) for fields in message["diagnostics"])
    return error
