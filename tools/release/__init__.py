"""A release: every file that is published for a version, made from one commit, the same bytes each time.

Belongs here: names, checks, builds and statements of a release. Does not: pushing and signing, which the workflow does
(.github/workflows/release.yml), because only there is an identity that others can verify.
"""
