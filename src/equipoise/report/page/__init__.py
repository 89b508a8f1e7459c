"""Page: findings as one self-contained HTML file, as SVG files, and as a whole folder."""

from equipoise.report.page.document import render
from equipoise.report.page.files import figures, report_files, write_report

__all__ = ["figures", "render", "report_files", "write_report"]
