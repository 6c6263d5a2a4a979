"""The page of the specification says what the marks in the tests say."""

import importlib.util

from pages import ROOT


def test_the_page_is_written_anew_when_marks_change():
    """`python scripts/spec_page.py` makes it."""
    spec = importlib.util.spec_from_file_location("spec_page", ROOT / "scripts" / "spec_page.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)

    assert script.page() == script.PAGE.read_text(encoding="utf-8")
