"""The command in a working folder, as in the tests of the command line."""

from tests.cli.conftest import command, folder, refused, template

__all__ = ["command", "folder", "refused", "template"]
