"""The autoscaler's loop: read → decide → act → tell, every few seconds and for all services at once.

Belongs here: the order of these steps, what is remembered between two looks, and when something is written. Does not:
what a reading means for the number of replicas (`autoscaling`), what the status says (`converging`), HTTP (`signals`).
"""
