"""Values that change what is rendered, one feature each."""

from typing import Any

Body = dict[str, Any]

DIGEST = "sha256:" + "0" * 64

SCOPES: dict[str, Body] = {
    "cluster": {},
    "namespaced": {"scope": "namespaced"},
    "two-namespaces": {"scope": "namespaced", "namespaces": ["team-b", "team-a"]},
}

FEATURES: dict[str, Body] = {
    "default": {},
    "another-name": {"instanceName": "second", "serviceAccount": {"annotations": {"a": "b"}}},
    "one-replica": {"replicas": 1},
    "no-crd": {"crds": {"enabled": False}},
    "crd-that-goes": {"crds": {"keep": False}},
    "no-roles": {"rbac": {"create": False}},
    "least-roles": {
        "rbac": {
            "podLogs": False,
            "stallRestarts": False,
            "severalNodes": False,
            "routes": False,
            "nodeInsight": False,
            "nodeShutdowns": False,
            "reviews": False,
            "userRoles": False,
        },
        "inspection": {"enabled": False},
        "downloads": {"enabled": False},
        "activator": {"enabled": False},
    },
    "no-operator-policy": {"admission": {"operator": {"enabled": False}}},
    "user-policy": {
        "admission": {
            "users": {
                "enabled": True,
                "ownImages": True,
                "imagePrefixes": ["registry.example:5000", "ghcr.io/acme"],
                "remoteCode": True,
            }
        }
    },
    "given-account": {"serviceAccount": {"create": False, "name": "given"}},
    "digest": {
        "image": {"repository": "registry.example:5000/operator", "digest": DIGEST},
        "imagePullSecrets": ["one"],
    },
    "tag": {"image": {"tag": "main", "pullPolicy": "Always"}},
    "air-gap": {
        "engines": {
            "imageMirrors": {"docker.io": "registry.example/hub", "ghcr.io": "registry.example/ghcr"},
            "pullSecrets": ["registry", "other"],
            "hfEndpoint": "https://hub.example",
            "proxy": {"https": "http://proxy:3128", "http": "http://proxy:3128", "none": [".svc", "10.0.0.0/8"]},
            "tolerations": [{"key": "team", "operator": "Exists"}],
        }
    },
    "no-downloads": {"downloads": {"enabled": False}},
    "few-downloads": {"downloads": {"atOnce": 2, "bandwidth": "100M"}},
    "no-activator": {"activator": {"enabled": False}},
    "one-activator": {"activator": {"replicas": 1, "topologySpread": []}},
    "activator": {
        "activator": {
            "replicas": 3,
            "maxHeld": 1000,
            "maxHeldPerService": 100,
            "maxHeldMiB": 64,
            "maxWaitSeconds": 120,
            "serviceAccount": {"create": False, "name": "given"},
            "nodeSelector": {"pool": "edge"},
            "tolerations": [{"key": "edge", "operator": "Exists"}],
            "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": []}},
            "priorityClassName": "system-cluster-critical",
            "podAnnotations": {"note": "two"},
            "podLabels": {"team": "platform"},
            "resources": {"limits": {"memory": "1Gi"}},
        },
    },
    "annotated-activator": {"activator": {"serviceAccount": {"annotations": {"a": "b"}}}},
    "no-inspection": {"inspection": {"enabled": False}},
    "patient-inspection": {"inspection": {"seconds": 300}},
    "settings": {"logLevel": "debug", "logFormat": "text", "workers": 32, "platform": "gke"},
    "catalogue": {
        "catalogue": {
            "accelerators": {"accelerators": [{"name": "L5", "vendor": "nvidia", "memory_gib": 31.3}]},
            "engines": {"vllm": {"default": "0.32.0"}},
        }
    },
    "prometheus": {
        "prometheus": {
            "url": "http://prometheus.monitoring:9090",
            "tokenSecret": {"name": "prometheus", "key": "bearer"},
        }
    },
    "placed": {
        "nodeSelector": {"pool": "system"},
        "tolerations": [{"key": "system", "operator": "Exists", "effect": "NoSchedule"}],
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [{"key": "pool", "operator": "Exists"}]}]
                }
            }
        },
        "priorityClassName": "system-cluster-critical",
        "podAnnotations": {"note": "one"},
        "podLabels": {"team": "platform"},
        "resources": {"limits": {"memory": "1Gi", "cpu": 1}},
    },
    "unspread": {"topologySpread": [], "podDisruptionBudget": {"enabled": False}},
    "no-policy": {"networkPolicy": {"enabled": False}},
    "narrow-policy": {
        "networkPolicy": {
            "metricsFrom": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}],
            "servicesFrom": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "gateway"}}}],
            "apiServer": {"cidrs": ["10.0.0.1/32"], "ports": [443]},
            "egress": [{"to": [{"ipBlock": {"cidr": "10.1.0.0/16"}}]}],
        }
    },
    "prometheus-elsewhere": {
        "networkPolicy": {"prometheus": [{"ipBlock": {"cidr": "10.2.0.0/16"}}]},
        "prometheus": {"url": "https://prometheus.example"},
    },
    "pod-monitors": {
        "monitoring": {
            "enginePodMonitor": {"enabled": True, "labels": {"release": "prometheus"}, "interval": "5s"},
            "prometheusRule": {"enabled": True, "labels": {"release": "prometheus"}},
        }
    },
    "engine-limits": {
        "monitoring": {"enginePodMonitor": {"enabled": True, "limits": {"bodySize": "4MiB", "samples": 20000}}}
    },
    "dashboard": {
        "monitoring": {"namespace": "monitoring", "dashboard": {"enabled": True, "labels": {"team": "platform"}}}
    },
    "service-monitor": {
        "monitoring": {"serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}, "interval": "1m"}}
    },
    "page": {"ui": {"enabled": True}},
    "page-with-all": {
        "imagePullSecrets": ["one"],
        "ui": {
            "enabled": True,
            "replicas": 2,
            "tlsSecret": "ui-tls",
            "from": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "ingress"}}}],
            "resources": {"limits": {"memory": "1Gi"}},
        },
    },
    "certificate": {
        "monitoring": {
            "tlsSecret": "llmservice-tls",
            "serviceMonitor": {"enabled": True, "tokenSecret": {"name": "prometheus", "key": "bearer"}},
        }
    },
}

TOGETHER = (
    "digest",
    "air-gap",
    "settings",
    "catalogue",
    "prometheus",
    "placed",
    "activator",
    "narrow-policy",
    "certificate",
    "pod-monitors",
    "dashboard",
    "user-policy",
    "another-name",
)
"""Features that do not contradict each other."""


def merged(*parts: Body) -> Body:
    """Values over values, as Helm lays one file over another."""
    result: Body = {}
    for part in parts:
        for name, value in part.items():
            both = isinstance(value, dict) and isinstance(result.get(name), dict)
            result[name] = merged(result[name], value) if both else value
    return result


COMBINATIONS = {
    f"{scope}-{feature}": merged(values, *parts)
    for scope, values in SCOPES.items()
    for feature, parts in (
        *((name, [changes]) for name, changes in FEATURES.items()),
        ("everything", [FEATURES[name] for name in TOGETHER]),
    )
}
"""Every feature in every scope, and all of them together."""
