"""The linters of GitHub's workflows: actionlint for what is written wrongly, zizmor for what others could misuse.

Belongs here: getting and running them. Does not: rules of our own, which are tests (tests/release/test_workflows.py).
"""
