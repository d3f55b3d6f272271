"""``/docs``: the OpenAPI document as one plain page, with no script and no foreign server."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from fastapi import APIRouter, Request, Response

from app.api.parameters import StrictRoute

router = APIRouter(include_in_schema=False, route_class=StrictRoute)

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "code,pre{font:14px/1.4 ui-monospace,monospace}"
    "pre{background:#8881;padding:.7rem;overflow:auto}"
    "summary{cursor:pointer}table{border-collapse:collapse}"
    "td,th{text-align:left;vertical-align:top;padding:.1rem 1rem .1rem 0}"
    "details details{margin-left:1rem}"
    "@media(prefers-color-scheme:dark){body{background:#181818;color:#ddd}a{color:#8bf}}"
)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"


@router.get("/docs", operation_id="get_docs")
async def get_docs(request: Request) -> Response:
    page = "\n".join(_page(request.app.openapi()))
    headers = {"Content-Security-Policy": _POLICY}
    return Response(page, media_type="text/html", headers=headers)


def _page(document: Mapping[str, Any]) -> Iterator[str]:
    about = document["info"]
    title = f"{escape(about['title'])} {escape(about['version'])}"
    yield f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
    yield '<meta name="viewport" content="width=device-width">'
    yield f"<style>{_STYLE}</style><h1>{title}</h1>"
    yield f"<p>{escape(about['description'])}</p>"
    yield '<p>For programs: <a href="/openapi.json">openapi.json</a>.</p>'
    for tag in document["tags"]:
        yield f"<h2>{escape(tag['name'])}</h2><p>{escape(tag['description'])}</p>"
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                if tag["name"] in operation["tags"]:
                    yield from _operation(method, path, operation, document)
    yield "<h2>Schemas</h2>"
    for name, schema in document["components"]["schemas"].items():
        yield f'<details id="{escape(name)}"><summary><code>{escape(name)}</code></summary>'
        yield f"{_json(schema)}</details>"


def _operation(
    method: str, path: str, operation: Mapping[str, Any], document: Mapping[str, Any]
) -> Iterator[str]:
    call = f"{method.upper()} {path}"
    yield f'<details id="{escape(operation["operationId"])}"><summary><code>{escape(call)}</code>'
    yield f" {escape(operation['summary'])}</summary>"
    if operation.get("parameters"):
        yield "<h4>Parameters</h4><table>"
        for parameter in operation["parameters"]:
            yield _row(parameter["name"], parameter["in"], parameter.get("description", ""))
        yield "</table>"
    if "requestBody" in operation:
        yield "<h4>Body</h4>"
        yield from _body(operation["requestBody"], document)
    yield "<h4>Answers</h4><table>"
    for status, answer in operation["responses"].items():
        yield _row(status, ", ".join(answer.get("content", {})), answer["description"])
    yield "</table></details>"


def _body(reference: Mapping[str, str], document: Mapping[str, Any]) -> Iterator[str]:
    body = document["components"]["requestBodies"][reference["$ref"].rpartition("/")[2]]
    for media, content in body["content"].items():
        name = content["schema"]["$ref"].rpartition("/")[2]
        yield f'<p>{escape(media)}: <a href="#{escape(name)}">{escape(name)}</a></p>'
        for title, example in content["examples"].items():
            yield f"<p>{escape(title)}</p>{_json(example['value'])}"


def _row(*cells: str) -> str:
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"


def _json(value: Any) -> str:
    return f"<pre>{escape(json.dumps(value, indent=2, ensure_ascii=False))}</pre>"
