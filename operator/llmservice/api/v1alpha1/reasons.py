"""What each reason means and what to do about it: data for the docs."""

from collections.abc import Mapping
from typing import NamedTuple

from llmservice.api.v1alpha1.conditions import Reason


class Meaning(NamedTuple):
    """What a reason means and how to resolve it, a sentence each."""

    meaning: str
    remedy: str


_WAIT = "Nothing: wait."

MEANINGS: Mapping[Reason, Meaning] = {
    Reason.READY: Meaning("The declared state is reached.", "Nothing."),
    Reason.SUSPENDED: Meaning("`spec.suspend` is true and no pod runs.", "Set `spec.suspend` to false to serve again."),
    Reason.SCALED_TO_ZERO: Meaning("The desired number of replicas is zero.", "Raise the replicas to serve again."),
    Reason.PROGRESSING: Meaning("A change is being rolled out, or replicas finish their requests.", _WAIT),
    Reason.STARTING: Meaning("A pod starts: its image is pulled, its volumes are mounted.", _WAIT),
    Reason.LOADING: Meaning("The engine runs and loads the model.", _WAIT),
    Reason.STARTED: Meaning(
        "A replica became ready; the message says how long each part of its start took.", "Nothing."
    ),
    Reason.INSPECTING: Meaning(
        "A short Job reads what the model's files say, before a device is taken; it takes a minute at most.",
        _WAIT,
    ),
    Reason.PULLING: Meaning("The node pulls the engine's image, which has gigabytes.", _WAIT),
    Reason.DOWNLOADING: Meaning(
        "A Job downloads the model's files to the claim in `spec.model.cache`; no device is taken meanwhile.", _WAIT
    ),
    Reason.DOWNLOADED: Meaning("The model's files are complete on the claim.", "Nothing."),
    Reason.DOWNLOAD_SLOW: Meaning(
        "The download receives nothing, or so little that it would take very long.",
        "Check the network and the mirror (`HF_ENDPOINT`); a download that was cut off goes on where it was.",
    ),
    Reason.DOWNLOAD_FAILED: Meaning(
        "The model's files cannot be downloaded to the claim.",
        "Follow the message; what was downloaded stays and is used when the download is tried again.",
    ),
    Reason.WEIGHTS_MISSING: Meaning(
        "The engine does not find the model's files on the claim, where they were complete before.",
        "Nothing: they are downloaded again. Find out who removed them.",
    ),
    Reason.CLAIM_ACCESS: Meaning(
        "The access mode of the claim, or the place of its volume, does not suit the replicas.",
        "Use a claim with the access mode in the message, or fewer replicas.",
    ),
    Reason.CLAIM_TOO_SMALL: Meaning(
        "The claim has less room than the model's files need.",
        "Enlarge the claim, or remove what it holds beside (`llmservice cache prune`).",
    ),
    Reason.ROLLOUT_PLAN: Meaning(
        "How the replicas are going to be replaced, and how long the gap is expected to be.", "Nothing."
    ),
    Reason.ROLLOUT_BLOCKED: Meaning(
        "The only replica that serves would have to go for the change: no device is free for one more, and "
        "`spec.rollout.allowDowntime` is false.",
        "Free a device, add a node, or set `spec.rollout.allowDowntime` to true; the change is then made.",
    ),
    Reason.ROLLED_BACK: Meaning(
        "The newest generation did not become ready within its budget; the replicas of the one before serve.",
        "Correct the spec as the message says: any edit is tried.",
    ),
    Reason.INVALID_SPEC: Meaning(
        "The resource contradicts the rules of its fields.",
        "Correct the fields the message names; `llmservice validate` checks a file without a cluster.",
    ),
    Reason.UNKNOWN_ENGINE: Meaning(
        "This operator has no engine of that name.", "Set `spec.engine` to one of the names in the message."
    ),
    Reason.UNKNOWN_VERSION: Meaning(
        "The catalogue has no such version of the engine.",
        "Set `spec.engineOptions.version` to one of the versions in the message, or omit it.",
    ),
    Reason.UNKNOWN_ACCELERATOR: Meaning(
        "The catalogue has no such accelerator, and `spec.gpu.resourceName` is not set.",
        "Use the name in the message, ask an administrator to add a row, or set `spec.gpu.resourceName`.",
    ),
    Reason.AMBIGUOUS_ACCELERATOR: Meaning(
        "The name stands for several accelerators that differ in memory or interconnect.",
        "Set `spec.gpu.type` to one of the exact names in the message.",
    ),
    Reason.OWNED_ARGUMENT: Meaning(
        "An argument or variable sets what the operator sets itself.",
        "Remove it from `spec.engineOptions` and use the field the message names.",
    ),
    Reason.UNSUPPORTED_MODEL_SOURCE: Meaning(
        "The engine cannot load weights from this kind of `spec.model.uri`.",
        "Use one of the schemes in the message, or another engine.",
    ),
    Reason.UNSUPPORTED_FIELD: Meaning(
        "The engine, or this version of it, cannot do what a field asks for.",
        "Remove the field the message names, or use another engine or version.",
    ),
    Reason.UNSUPPORTED_TASK: Meaning(
        "The engine does not serve models of this kind: it generates text, say, and the model makes embeddings.",
        "Set `spec.engine` to one of the engines in the message; or `spec.model.task`, where the kind is another.",
    ),
    Reason.UNSUPPORTED_BY_DEVICE: Meaning(
        "The image of this engine version has no kernels for the device, or cannot do there what a field asks for.",
        "Use a version, device or value that the message names; see [what runs where](matrix.md).",
    ),
    Reason.QUANTIZATION_MISSPELLED: Meaning(
        "The quantization is not one the engine knows, or is written in another case.",
        "Set `spec.quantization` to the spelling in the message, or to auto.",
    ),
    Reason.FITS: Meaning("The model and its KV cache fit the devices, by the careful estimate.", "Nothing."),
    Reason.FITS_TIGHTLY: Meaning(
        "The model fits by the optimistic estimate only: its start may fail.",
        "Nothing if it starts; else follow the message, which names the changes in the order of least change.",
    ),
    Reason.DOES_NOT_FIT: Meaning(
        "The model cannot fit the memory of its devices, not even by the optimistic estimate: no pod is created.",
        "Make one of the changes in the message. If you know better: state `spec.model.facts`, or set `spec.fit` to "
        "Warn.",
    ),
    Reason.FIT_UNKNOWN: Meaning(
        "Too little is known of the model or of its devices to say whether it fits.",
        "Nothing; or state `spec.model.facts` (`llmservice inspect` prints them), or ask an administrator for a row.",
    ),
    Reason.NAME_CONFLICT: Meaning(
        "An object of the same name does not belong to this LLMService and was left unchanged. The message says "
        "whether it is somebody else's, an orphan of an earlier LLMService of this name, or still being deleted.",
        "Rename the LLMService, or delete that object; wait while it is being deleted. An orphan can be "
        "[kept](../explanation/replicas.md#whose-the-children-are).",
    ),
    Reason.REFUSED_BY_CLUSTER: Meaning(
        "The API server rejects a request of the operator: a quota, an admission policy, a webhook that does not "
        "answer, a missing Role.",
        "Ask the administrator of the namespace to allow it; the operator retries every 20 s.",
    ),
    Reason.GROUPS_NOT_AVAILABLE: Meaning(
        "`spec.gpu.nodes` is more than 1, and the cluster has no LeaderWorkerSets, or the operator may not use them.",
        "Have the administrator install LeaderWorkerSet and allow the operator to use it: see [several "
        "nodes](../how-to/several-nodes.md). It goes on by itself then.",
    ),
    Reason.OTHER_WORKLOAD: Meaning(
        "`spec.gpu.nodes` was changed from or to one node, and what makes the replicas cannot become the other kind.",
        "Delete the workload that the message names when its replicas may end, or set `spec.gpu.nodes` as it was.",
    ),
    Reason.PODS_REFUSED: Meaning(
        "The API server rejects the pods: a quota, Pod Security, an admission policy.",
        "Ask the administrator of the namespace to allow them.",
    ),
    Reason.CONTESTED: Meaning(
        "Another client changes a child after every write of the operator. Repairs back off: at most four in the first "
        "minute, finally one every five minutes.",
        "Stop the writer that the message names (a field manager, an admission webhook, another operator) from "
        "changing the object.",
    ),
    Reason.FOREIGN_ADDITION: Meaning(
        "Another writer added a container, an environment variable or a port; it is left in place.",
        "Nothing if it is intended; else remove it from the object that the message names.",
    ),
    Reason.UNSCHEDULABLE: Meaning(
        "No node fits the pod.",
        "Check `spec.gpu.type`, `spec.pod.nodeSelector` and `spec.pod.tolerations`; add a node.",
    ),
    Reason.INSUFFICIENT_ACCELERATORS: Meaning(
        "Nodes fit, but none has enough free devices.", "Free one, add a node, or lower `spec.gpu.count`."
    ),
    Reason.IMAGE_NAME_INVALID: Meaning("The image is not an image reference.", "Correct `spec.engineOptions.image`."),
    Reason.IMAGE_PULL_FAILED: Meaning(
        "The image cannot be pulled.", "Check its name, `spec.pod.imagePullSecrets` and the registry mirror."
    ),
    Reason.SECRET_NOT_FOUND: Meaning(
        "A Secret, or a key in it, does not exist.", "Create it in the same namespace: the pod then goes on by itself."
    ),
    Reason.CONFIG_MAP_NOT_FOUND: Meaning(
        "A ConfigMap, or a key in it, does not exist.",
        "Create it in the same namespace: the pod then goes on by itself.",
    ),
    Reason.CLAIM_NOT_FOUND: Meaning(
        "The PersistentVolumeClaim does not exist.",
        "Create it in the same namespace: the pod then goes on by itself. Or correct `spec.model.uri`.",
    ),
    Reason.CLAIM_NOT_BOUND: Meaning(
        "The PersistentVolumeClaim has no volume yet.", "Check its StorageClass, size and access mode."
    ),
    Reason.VOLUME_MOUNT_FAILED: Meaning(
        "A volume cannot be mounted.", "Check `spec.model.uri` and `spec.engineOptions.files` against the message."
    ),
    Reason.POD_SANDBOX_FAILED: Meaning(
        "The node cannot create the pod's sandbox: its network, or the runtime of its RuntimeClass, fails.",
        "Check the node's network plugin, and the handler of `spec.pod.runtimeClassName`, against the message.",
    ),
    Reason.CONTAINER_REFUSED: Meaning(
        "The node cannot create the container.", "Check `spec.engineOptions` and `spec.pod` against the message."
    ),
    Reason.CRASH_LOOPING: Meaning(
        "The engine exits again and again.", "See `kubectl logs --previous` of the pod; the message has its last line."
    ),
    Reason.OUT_OF_MEMORY: Meaning(
        "The engine exceeded its memory, on the host or on the device.",
        "Raise `spec.pod.resources.limits.memory`, lower `spec.maxModelLen` or `spec.maxNumSeqs`, or use more devices.",
    ),
    Reason.STARTUP_TIMED_OUT: Meaning(
        "A replica loads its model for longer than its budget. Nothing restarts it.",
        "Wait while its log moves, and raise `spec.startup.timeoutSeconds`; a replica that hangs is to be deleted.",
    ),
    Reason.MODEL_NOT_FOUND: Meaning(
        "The repository, revision or file does not exist.",
        "Correct `spec.model.uri`, `spec.model.revision`, `spec.model.file` or `spec.quantization`.",
    ),
    Reason.MODEL_ACCESS_DENIED: Meaning(
        "The repository is private or gated.",
        "Accept its licence and set `spec.model.tokenSecretRef` to a token that may read it.",
    ),
    Reason.HUB_UNREACHABLE: Meaning(
        "The engine cannot reach the model hub: name resolution, network, proxy, certificate.",
        "Check NetworkPolicies, `HF_ENDPOINT`, `HTTPS_PROXY` and `SSL_CERT_FILE` in `spec.engineOptions.env`, or keep "
        "the model on a claim (`pvc://`).",
    ),
    Reason.HUB_THROTTLED: Meaning(
        "The model hub answers 429: too many requests from this address or token.",
        "Set `spec.model.tokenSecretRef`, wait, or keep the model on a claim (`pvc://`).",
    ),
    Reason.CHECKPOINT_DAMAGED: Meaning(
        "A file of the model is damaged, cut off, or a part of it is missing.", "Copy or download the model again."
    ),
    Reason.TOKENIZER_UNUSABLE: Meaning(
        "The model's tokenizer is missing, or the engine cannot read it.",
        "Add the tokenizer's files to the model, or set a newer `spec.engineOptions.version`.",
    ),
    Reason.CHAT_TEMPLATE_INVALID: Meaning(
        "The chat template does not exist or is not a valid template.",
        "Mount it with `spec.engineOptions.files` and name its path in the args.",
    ),
    Reason.ADAPTER_REJECTED: Meaning(
        "A LoRA adapter cannot be loaded, or does not belong to the model.",
        "Correct `spec.adapters`; the message names the adapter, and what the engine says of it.",
    ),
    Reason.ADAPTERS_LOADED: Meaning("Every ready replica has the adapters of the resource.", "Nothing."),
    Reason.ADAPTERS_LOADING: Meaning("Adapters are being loaded into replicas that run.", _WAIT),
    Reason.ENGINE_ARGUMENT_REJECTED: Meaning(
        "The engine does not know, or does not accept, an argument.",
        "Correct `spec.engineOptions.args`, or `version` when `image` is your own.",
    ),
    Reason.QUANTIZATION_MISMATCH: Meaning(
        "The checkpoint is not quantized the way `spec.quantization` says.",
        "Set `spec.quantization` to what the message names, or to auto.",
    ),
    Reason.CONTEXT_TOO_LONG: Meaning(
        "The model does not take contexts of `spec.maxModelLen` tokens.",
        "Lower `spec.maxModelLen` to the number in the message.",
    ),
    Reason.KV_CACHE_TOO_SMALL: Meaning(
        "After loading the weights too little device memory is left for one request of full length.",
        "Lower `spec.maxModelLen`, use a quantized model, or more or larger devices.",
    ),
    Reason.NOT_DIVISIBLE: Meaning(
        "The model's heads cannot be divided evenly among the devices of a replica.",
        "Set `spec.gpu.count` to a divisor of the number of heads.",
    ),
    Reason.DISK_FULL: Meaning(
        "The node's disk, or the volume that the engine writes to, is full.",
        "Raise `spec.pod.resources.requests.ephemeral-storage`, or keep the model on a claim (`pvc://`).",
    ),
    Reason.SHARED_MEMORY_TOO_SMALL: Meaning(
        "The engine's processes need more of `/dev/shm` than the pod has.", "Raise `spec.pod.sharedMemory`."
    ),
    Reason.FILE_NOT_ACCESSIBLE: Meaning(
        "The pod's user may not read or write a file that the engine needs.",
        "Set `spec.pod.securityContext`: `runAsUser`, `fsGroup` or `supplementalGroups`.",
    ),
    Reason.PROCESS_LIMIT_REACHED: Meaning(
        "The engine may not start more threads or open more files.",
        "Raise the limit of the node (`podPidsLimit` of the kubelet, open files of the container runtime), or start "
        "fewer threads.",
    ),
    Reason.PORT_IN_USE: Meaning(
        "Something else in the pod listens on the engine's port.",
        "Opt the pod out of the injected sidecar, or leave out the argument that starts a second server.",
    ),
    Reason.CPU_NOT_SUPPORTED: Meaning(
        "The CPU is of another architecture than the image, or lacks instructions such as AVX-512.",
        "Choose other nodes in `spec.pod.nodeSelector`, or another image.",
    ),
    Reason.GPU_NOT_USABLE: Meaning(
        "The engine finds no device, or may not open it.",
        "Check the node, `spec.pod.runtimeClassName` and `spec.pod.securityContext.supplementalGroups`.",
    ),
    Reason.GPU_NOT_SUPPORTED: Meaning(
        "The engine has no kernels for this card, or for this model on it.",
        "Set another `spec.gpu.type` or `spec.engineOptions.version`.",
    ),
    Reason.GPU_BUSY: Meaning(
        "Another process uses the device and does not share it.",
        "End what uses it outside Kubernetes, or set its compute mode to default.",
    ),
    Reason.GPU_FAULTY: Meaning(
        "The device has an error of its own: memory (ECC), NVLink, or it is gone.",
        "Drain the node and have the device reset or replaced.",
    ),
    Reason.DRIVER_TOO_OLD: Meaning(
        "The node's driver is older than the CUDA of the image needs.",
        "Update the driver (CUDA 13 needs R580), or set an older `spec.engineOptions.version`; where the engine has "
        "another way on data centre cards, the message says it.",
    ),
    Reason.DRIVER_MISMATCH: Meaning(
        "The image's compatibility libraries of CUDA are older than the node's driver.",
        "Leave out `VLLM_ENABLE_CUDA_COMPATIBILITY`, or set `LD_LIBRARY_PATH` as the message says.",
    ),
    Reason.COLLECTIVE_FAILED: Meaning(
        "The devices of a replica could not exchange data (NCCL, torch.distributed).",
        "Set `NCCL_DEBUG=INFO` or `NCCL_P2P_DISABLE=1` in `spec.engineOptions.env` as the message says.",
    ),
    Reason.COMPILATION_FAILED: Meaning(
        "The engine could not compile the model or a kernel for it.",
        "Use the engine's own image, another `spec.engineOptions.version`, or what the message says.",
    ),
    Reason.PACKAGE_MISSING: Meaning(
        "The image lacks a package that this model or option needs.",
        "Use an image of your own with it (`spec.engineOptions.image`), or another model.",
    ),
    Reason.ENGINE_CRASHED: Meaning(
        "The engine crashed in its own code: a signal, or a failed kernel.",
        "Set another `spec.engineOptions.version`, and report it to the engine's project.",
    ),
    Reason.ACCELERATOR_IN_USE: Meaning(
        "The engine reported that it computes on its devices; the message has its own figures beside the planned ones.",
        "Nothing.",
    ),
    Reason.ACCELERATOR_NOT_USED: Meaning(
        "The replica has devices, and its engine reported that it computes on the CPU.",
        "Use an image with support for the devices, and a node whose driver and RuntimeClass make them visible to "
        "containers; with `spec.gpu.verify: false` Ready does not wait for it.",
    ),
    Reason.ACCELERATOR_PARTLY_USED: Meaning(
        "Some layers are on the CPU although none was asked to be.",
        "Remove what moves them from `spec.engineOptions`; or ask for it with `spec.gpu.offloadLayers`.",
    ),
    Reason.ACCELERATOR_NOT_REPORTED: Meaning(
        "The engine's log does not say what it computes on, or was not read yet.",
        "Nothing; if you set the engine's log level, keep the lines that it prints at its start.",
    ),
    Reason.ENGINE_UNRESPONSIVE: Meaning(
        "The engine was ready, is still running, and fails its health check.",
        "See its log; if this goes on, the kubelet restarts it.",
    ),
    Reason.ENGINE_STALLED: Meaning(
        "Requests run and no token comes: the engine hangs, although it answers its probes.",
        "Nothing: it is restarted, once in ten minutes at most. If it comes back, use another version of the engine.",
    ),
    Reason.ENGINE_PROGRESSING: Meaning("Engines that have requests produce tokens.", "Nothing."),
    Reason.CONCURRENCY_TOO_HIGH: Meaning(
        "So many requests run at once that the engine often interrupts some and computes them again.",
        "Lower `spec.maxNumSeqs` to the number in the message, or add replicas.",
    ),
    Reason.NODE_LEAVING: Meaning(
        "A node with replicas is drained, reclaimed or shut down.", "Nothing: they are replaced."
    ),
    Reason.NODE_LOST: Meaning(
        "A pod was terminated by its node, or its node is not responding.",
        "See `kubectl describe node`; the pod is replaced automatically.",
    ),
    Reason.ROUTE_ACCEPTED: Meaning("Every Gateway in `spec.route` leads requests to this service.", "Nothing."),
    Reason.ROUTE_PENDING: Meaning(
        "The HTTPRoute was written, and the Gateway's controller has not answered yet.", _WAIT
    ),
    Reason.ROUTE_UNCLAIMED: Meaning(
        "No controller has answered for the HTTPRoute within a minute.",
        "See whether the Gateway in the message exists and is programmed, and whether the controller of its "
        "GatewayClass runs.",
    ),
    Reason.ROUTE_REFUSED: Meaning(
        "A Gateway does not accept the HTTPRoute: its listeners do not admit this namespace, have other hostnames, or "
        "its controller does not support a value.",
        "Follow the message: most often the Gateway's administrator admits the namespace by `allowedRoutes`.",
    ),
    Reason.ROUTE_BACKEND_UNRESOLVED: Meaning(
        "A Gateway accepts the HTTPRoute and cannot use the Service or InferencePool that it leads to.",
        "Follow the message: the controller may not know InferencePools, or not find the endpoint picker.",
    ),
    Reason.ROUTE_SHADOWED: Meaning(
        "An older HTTPRoute has the same hostname and path on the same Gateway, and gets the requests.",
        "Change `spec.route.hostnames` or `spec.route.path` of one of the two.",
    ),
    Reason.ROUTE_KIND_MISSING: Meaning(
        "The cluster has no HTTPRoutes, or no InferencePools; the service serves without.",
        "Install the CRDs in the message: the route is then made, without a restart.",
    ),
    Reason.ROUTE_NOT_PERMITTED: Meaning(
        "The operator has no right to the kind of the route; the service serves without.",
        "Have an administrator grant it (`rbac.routes` of the chart), or remove `spec.route`.",
    ),
    Reason.NEWER_PLAN: Meaning(
        "The current operator, catalogue or settings would render the replicas differently; they run unchanged.",
        "Nothing; or apply it: edit the spec, or set the annotation `llmservice.dev/update` to a new value.",
    ),
    Reason.MADE_BY_NEWER_OPERATOR: Meaning(
        "A newer operator rendered the replicas; this one leaves them unchanged until the spec changes.",
        "Upgrade the operator again.",
    ),
    Reason.LOAD_ROSE: Meaning("The load needs more replicas than were running.", "Nothing."),
    Reason.LOAD_FELL: Meaning("The load has needed fewer replicas for the whole stabilization window.", "Nothing."),
    Reason.STEADY: Meaning("The number of replicas fits the load.", "Nothing."),
    Reason.STABILIZING: Meaning(
        "Fewer replicas would be enough now; they are kept for the stabilization window in case load returns.", _WAIT
    ),
    Reason.AT_MINIMUM: Meaning("`minReplicas` is more than enough.", "Nothing, or lower `minReplicas`."),
    Reason.AT_MAXIMUM: Meaning(
        "The load needs `maxReplicas` or more.", "Raise `maxReplicas` if requests miss the objective."
    ),
    Reason.OUT_OF_BOUNDS: Meaning(
        "The number of replicas was outside the bounds of the spec and was corrected.", "Nothing."
    ),
    Reason.PODS_PENDING: Meaning(
        "More replicas are needed, but some pods cannot be scheduled; no more are requested.",
        "Free or add nodes as the scheduler's message says, or lower `maxReplicas`.",
    ),
    Reason.NO_REPLICA_READY: Meaning(
        "No replica is ready, so there are no metrics to read.", "Nothing while replicas start; else see `Ready`."
    ),
    Reason.NO_FRESH_READINGS: Meaning(
        "No replica's metrics can be read: the number of replicas stays as it is.",
        "Nothing while the first replica starts; else follow the message of `MetricsAvailable`.",
    ),
    Reason.PARTIAL_READINGS: Meaning(
        "Some replicas' metrics cannot be read: they count as busy as the others, and there is no scale-down.",
        "Follow the message: it names the pod and the cause.",
    ),
    Reason.SIGNAL_MISSING: Meaning(
        "The engine reports none of the signals that `targets` are set for.", "Set the target the message names."
    ),
    Reason.ADVISE_ONLY: Meaning(
        "Mode Advise: replicas are decided and explained, and not set.",
        "Set `spec.autoscaling.mode` to Active to have them set.",
    ),
    Reason.METRICS_READ: Meaning("Every ready replica's metrics are read.", "Nothing."),
    Reason.SCALED_UP: Meaning(
        "The autoscaler raised the replicas; the message has the load and the reason.", "Nothing."
    ),
    Reason.SCALED_DOWN: Meaning(
        "The autoscaler lowered the replicas; the message has the load and the reason.", "Nothing."
    ),
    Reason.OVERRULED: Meaning(
        "Another client set the Deployment's replicas; the autoscaler overrode it.",
        "Remove the other scaler, or set `spec.autoscaling.mode` to Advise.",
    ),
    Reason.IDLE: Meaning(
        "Nobody has asked anything for `spec.autoscaling.idle.afterSeconds`: no replica runs from now on.",
        "Nothing: the first request wakes it. Raise `afterSeconds` if that is too often.",
    ),
    Reason.ASLEEP: Meaning(
        "No replica runs, because nobody asks anything. Requests are held and start one.",
        "Nothing; to start a replica before the first request: `llmservice wake NAME`.",
    ),
    Reason.WOKEN: Meaning("A replica starts after none ran: the message says who asked for it.", _WAIT),
    Reason.ACTIVATOR_MISSING: Meaning(
        "Nothing holds the requests of a service that may sleep. Either no activator is installed, and `minReplicas` 0 "
        "is refused. Or none is ready while the service sleeps: clients are refused, and nobody wakes it.",
        "Not installed: ask an administrator for it (`activator.enabled` of the chart), or set `minReplicas` to 1. Not "
        "ready: start a replica by `llmservice wake NAME`; `llmservice doctor` says what is wrong.",
    ),
}
