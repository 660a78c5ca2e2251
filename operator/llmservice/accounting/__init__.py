"""What the devices of a service did and cost: device-seconds by day, type and state.

Belongs here: time and devices as numbers. Does not: pods as Kubernetes has them, clocks, prices' files.
"""
