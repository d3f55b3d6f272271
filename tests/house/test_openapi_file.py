"""The OpenAPI document in the tree is the one that this code gives (``make openapi``)."""

from pathlib import Path

from app.main import openapi_document

FILE = Path(__file__).parents[2] / "openapi" / "openapi.json"


def test_the_document_in_the_tree_is_up_to_date() -> None:
    assert FILE.read_text("utf-8") == openapi_document(), "stale: run `make openapi`"
