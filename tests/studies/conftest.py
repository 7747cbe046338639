"""The command in a working folder, as in the tests of the command line."""

from tests.cli.conftest import command, done, folder, refused, template

__all__ = ["command", "done", "folder", "refused", "template"]
