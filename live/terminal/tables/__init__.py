"""Tables without keys: while an event runs, and after it."""
