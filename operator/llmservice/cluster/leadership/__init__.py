"""Leader election: the Lease, and the check that holds back every write of a replica that does not lead."""
