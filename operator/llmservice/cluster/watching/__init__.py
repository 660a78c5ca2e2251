"""Lists and watches, and whether what they tell still is the history of this cluster."""
