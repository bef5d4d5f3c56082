"""A source as a message to another process."""

from collections.abc import Mapping
from typing import Any

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
