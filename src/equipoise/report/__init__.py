"""Report: one record of findings, shown on a page, in a terminal, a notebook and files."""
