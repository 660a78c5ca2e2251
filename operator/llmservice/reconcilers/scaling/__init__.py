"""The autoscaler's loop: every few seconds read → decide → write → report, for all services at once.

The walk of one sample: `autoscaler` (a round), `scaled_services` (which services, which pods), the `signals` package
(metrics page → Reading), `service_scaler` (one service), `pod_history` (Readings → Snapshot), the `autoscaling` package
(Snapshot → Decision), `scale_writer` (Decision → replicas), `status_throttle` (when the status says so).
What is remembered of a service is one object, a `ServiceState`; `ServiceStates` owns them all.

Belongs here: the order of these steps, what is remembered between two rounds, and when something is written. Does not:
what a reading means for the number of replicas (`autoscaling`), what the status says (`converging`), HTTP (`signals`).
"""
