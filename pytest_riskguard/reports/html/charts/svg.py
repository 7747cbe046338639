"""A chart as SVG for a page: known elements and attributes only, tooltips without scripts."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

_NS = "http://www.w3.org/2000/svg"
_ELEMENTS = {"svg", "g", "path", "rect", "line", "text", "tspan", "circle"}
_ATTRIBUTES = {
    "d", "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap",
    "stroke-linejoin", "opacity", "transform", "x", "y", "x1", "x2", "y1", "y2", "dx", "dy", "width", "height",
    "text-anchor", "font-size", "font-weight", "font-style", "cx", "cy", "r", "viewBox",
}  # fmt: skip
#: Digits too small for any screen to show.
_DECIMALS = re.compile(r"(\.\d\d)\d+")


def svg(spec: dict[str, Any], *, title: str, description: str) -> str:
    """A Vega-Lite specification drawn; title and description are for readers who cannot see it.

    Each mark that has a description of its own carries it as ``<title>``, which browsers show as a tooltip.
    """
    import vl_convert

    drawn = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    root = ElementTree.fromstring(drawn)  # noqa: S314 - made by the line above
    _keep(root)
    root.attrib = {"viewBox": root.get("viewBox", ""), "role": "img", "aria-label": title}
    words = ElementTree.Element(f"{{{_NS}}}desc")
    words.text = description
    root.insert(0, words)
    ElementTree.register_namespace("", _NS)
    return ElementTree.tostring(root, encoding="unicode")


def _keep(element: ElementTree.Element) -> None:
    """Remove what is not needed to see the chart, in this element and below it."""
    label = element.get("aria-label") if element.get("role") == "graphics-symbol" else None
    mark = label is not None and element.get("aria-roledescription") not in {"axis", "legend", "title"}
    element.attrib = {
        key: _DECIMALS.sub(r"\1", value)
        for key, value in element.attrib.items()
        if key in _ATTRIBUTES and not value.startswith("url(")
    }
    for child in list(element):
        tag = child.tag.removeprefix(f"{{{_NS}}}")
        if tag not in _ELEMENTS or child.get("display") == "none" or child.get("class") == "background":
            element.remove(child)
            continue
        _keep(child)
        if tag == "g" and not len(child):
            element.remove(child)
    if mark and label:
        element.set("class", "m")
        ElementTree.SubElement(element, f"{{{_NS}}}title").text = label
