"""Files of a view from Python: their forms, their names, and what hostile names become in them."""

import json
import re

import pytest

import kernel_magics as km
from kernel_magics.errors import UsageError
from kernel_magics.graph.png import to_png
from kernel_magics.widgets.standalone import page

PROGRAM = """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = func.call @helper(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func private @helper(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.add %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
"""
HOSTILE = "</script><img src=x onerror=alert(1)><!--]]>&amp;\\22\\0A\\E2\\80\\AE"


@pytest.fixture
def view(session) -> km.Inspector:
    session.define(PROGRAM, name="unit")
    return km.inspect(session)


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("module.svg", b"<svg "),
        ("module.PNG", b"\x89PNG\r\n"),
        ("module.dot", b"digraph {"),
        ("module.html", b"<!DOCTYPE html>"),
    ],
)
def test_a_view_is_saved_in_the_form_that_its_name_says(view, tmp_path, name, begins):
    view.save(tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(begins)


@pytest.mark.parametrize("name", ["module", "module.pdf"])
def test_a_name_that_says_no_form_is_refused(view, tmp_path, name):
    with pytest.raises(UsageError) as caught:
        view.save(tmp_path / name)
    assert str(caught.value) == (
        f"`{name}` says not in which form to save\n"
        "  forms: .svg, .png, .dot, .html\n"
        "  Let the file's name end in one of these."
    )
    assert not (tmp_path / name).exists()


def test_the_page_holds_texts_symbols_comparisons_and_ops(view):
    saved = data_of(view._forms().html())["saved"]
    assert [text["facts"]["text"] for text in saved["texts"]] == [-1, 0]
    assert [row["old"] for row in saved["symbols"]] == ["@main", "@helper"]
    assert [drawing["name"] for drawing in saved["drawings"]] == ["@main", "@helper"]
    (diff,) = saved["diffs"]
    assert diff["left_lines"]["lines"][0].strip().startswith("func.func @main(%arg0")


def test_hostile_names_are_data_in_every_form(session):
    session.define(
        f'func.func @main() {{\n  func.call @"{HOSTILE}"() : () -> ()\n  return\n}}\n'
        f'func.func private @"{HOSTILE}"() {{\n  return\n}}\n',
        name="</title><script>alert(2)</script>",
    )
    forms = km.inspect(session)._forms()
    html = forms.html()
    assert html.count("<script") == html.count("</script>") == 2
    assert html.count("<!--") == 0
    assert "<img" not in html
    names = [node["name"] for node in data_of(html)["nodes"]]
    assert any("</script><img src=x onerror=alert(1)>" in name for name in names)
    assert "<img" not in forms.svg()
    assert forms.png().startswith(b"\x89PNG")


def test_the_script_of_the_page_is_the_one_that_its_policy_names(view):
    html = view._forms().html()
    assert "script-src 'sha256-" in html
    assert "http://" not in html.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in html


def test_a_name_in_another_script_is_in_the_picture(session):
    session.define('func.func @"名前" () {\n  return\n}\n', name="unit")
    assert km.inspect(session)._forms().png().startswith(b"\x89PNG")


def test_graphs_are_pictures_without_a_widget(session):
    session.define(PROGRAM, name="unit")
    graph = session.graph()
    for png in (graph.to_png(note="a note"), graph.ops("main").to_png()):
        assert png.startswith(b"\x89PNG\r\n")


def test_a_picture_needs_no_font_of_the_machine(monkeypatch, view):
    with_system_fonts = to_png(view._forms().svg())
    monkeypatch.setenv("FONTCONFIG_FILE", "/nowhere")
    assert to_png(view._forms().svg()) == with_system_fonts


def test_a_page_escapes_what_html_could_read():
    text = page({"title": "<b>&", "note": "</script>"})  # type: ignore[typeddict-item]
    assert "<title>&lt;b&gt;&amp; · Kernel Magics</title>" in text
    assert "\\u003c/script\\u003e" in text


def data_of(html: str) -> dict:
    found = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', html, re.DOTALL)
    assert found
    return json.loads(found[1])
