"""PGN that is read again and again as a whole: files, folders, standard input, web pages."""
