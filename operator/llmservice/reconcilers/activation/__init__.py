"""The operator's side of services without a replica: who holds their requests, how many, and on which port.

`activators` knows the replicas of the activator, `polling` asks each of them what it holds, `held_requests` adds the
answers up, `ports` says whose a port is, `covering` since when activators stand in for a service. `sleepers` puts it
together: the EndpointSlice of each service for the reconciler, and held requests for the autoscaler, which decides when
a service sleeps (`autoscaling/idling.py`).

Belongs here: when what is asked and written. Does not: what the activator does with requests (package `activator`).
"""
