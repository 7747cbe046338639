"""Verdicts that are kept on disk: the same question about the same files is answered without judging it again."""
