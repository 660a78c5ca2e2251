"""Pages of docs/reference, written from the code they describe."""
