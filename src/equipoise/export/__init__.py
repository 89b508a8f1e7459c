"""Export: the sources of what was run, as citations and as BibTeX."""

from equipoise.export.references import bibtex, references

__all__ = ["bibtex", "references"]
