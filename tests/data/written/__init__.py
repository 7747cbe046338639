"""Files as the tools of each format write them: one module for each module of ``formats/files``, with ``CASES``."""
