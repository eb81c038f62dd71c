"""Where the committed demo library and its questions are, in a checkout and installed."""

from pathlib import Path

DEMO_FOLDER = Path(__file__).resolve().parent
DEMO_LIBRARY = DEMO_FOLDER / "library"
QUESTIONS = DEMO_FOLDER / "questions.json"
