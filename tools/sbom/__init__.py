"""The SBOM of the operator's image: which packages are in it, by version and hash (CycloneDX).

Belongs here: what the lock and the project say, in the form of CycloneDX. Does not: the packages of the base image; who
builds it says those.
"""
