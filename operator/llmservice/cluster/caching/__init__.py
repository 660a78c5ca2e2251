"""What is kept in memory of what was watched: the newest of each object, without the parts that nobody reads."""
