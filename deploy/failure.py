"""The one error that the local stack tells its user about."""


class CannotStart(Exception):
    """The stack cannot start or go on; the text is one sentence that says what to do."""
