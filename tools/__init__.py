"""What maintainers run to write files of the repository anew; nothing of it ships."""
