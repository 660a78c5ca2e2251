"""Lists and watches, and whether they still belong to the history of this cluster."""
