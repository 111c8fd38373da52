"""The one exception that commands raise on purpose."""


class Refusal(Exception):  # noqa: N818 (nothing in the program is in error)
    """A reason, in one line with the next move, why a command cannot go on.

    The command line prints it without a traceback and ends with exit code 2.
    """
