"""The report as Markdown, for pull requests and the step summaries of CI systems."""

from pytest_riskguard.reports.markdown.gate import pictures
from pytest_riskguard.reports.markdown.page import COMMENT_LIMIT, SUMMARY_LIMIT, render

__all__ = ["COMMENT_LIMIT", "SUMMARY_LIMIT", "pictures", "render"]
