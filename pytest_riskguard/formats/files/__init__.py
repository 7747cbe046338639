"""One module for each format of files; the table ``formats.known`` names them."""
