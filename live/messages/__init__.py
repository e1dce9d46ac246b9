"""Values that cross rooms, by direction: made once and never changed. Pure."""
