"""The object cache: the newest version of each watched object, without the parts that nothing reads."""
