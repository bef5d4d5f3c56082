"""Whole files of other projects are linked and drawn, or refused in a good sentence."""

import json

import jax
import pytest

import kernel_magics as km

OLD_JAX = tuple(map(int, jax.__version__.split(".")[:2])) < (0, 11)

# Written by a newer StableHLO than this jaxlib reads.
TOO_NEW_FOR_OLD_JAX = ("vhlo_1_20_0.mlir.bc",)


def manifest(corpus):
    return json.loads((corpus / "real/MANIFEST.json").read_text())


def refused(entry) -> bool:
    too_new = OLD_JAX and entry["file"] in TOO_NEW_FOR_OLD_JAX
    # The corpus marks what MLIR's parser refuses; HLO text is not for that parser.
    fails = "FAIL" in entry["parse"] and not entry["file"].endswith(".hlo")
    return too_new or fails or "REJECT" in entry["file"]


def test_every_good_file_is_linked_and_drawn_in_one_session(corpus, session):
    files = [entry["file"] for entry in manifest(corpus) if not refused(entry)]
    for file in files:
        report = session.define(corpus / "real" / file, name=file)
        graph = session.units[file].graph
        functions = {s.new_name for s in report.symbols if s.kind == "func.func"}
        assert functions <= {node.id for node in graph.nodes}
        assert graph.to_svg().startswith("<svg")
        assert graph.to_text()
    assert len(session.units) == len(files) >= 37
    session._linked.module.module.operation.verify()
    assert session.graph().to_svg().startswith("<svg")


def test_every_bad_file_is_refused_in_a_sentence_with_its_place(corpus, session):
    for entry in filter(refused, manifest(corpus)):
        with pytest.raises(km.errors.SourceError) as error:
            session.define(corpus / "real" / entry["file"])
        words = str(error.value).split("\n")[0]
        assert words.startswith(("MLIR refused the", "This looks like", "The artifact was written"))
    assert session.units == {}
