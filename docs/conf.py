"""How the documentation site is built: ``make site``; nothing is fetched from anywhere."""

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx

import equipoise

project = "equipoise"
author = "the equipoise developers"
project_copyright = "the equipoise developers, Apache-2.0"
version = release = equipoise.__version__
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
]
templates_path = ["_templates"]
html_theme = "pydata_sphinx_theme"
html_title = "equipoise"
html_extra_path = ["uncertainty-nih.html"]
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_show_sourcelink = False
myst_heading_anchors = 4
autosummary_generate = True
autosummary_imported_members = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False


def _write_formula(writer: nodes.NodeVisitor, node: nodes.Element) -> None:
    """A formula as MathML, which browsers draw without a script."""
    display = "block" if isinstance(node, nodes.math_block) else "inline"
    writer.body.append(convert(node.astext(), display=display))
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Formulas become MathML while the site is built."""
    app.add_node(nodes.math, override=True, html=(_write_formula, None))
    app.add_node(nodes.math_block, override=True, html=(_write_formula, None))
