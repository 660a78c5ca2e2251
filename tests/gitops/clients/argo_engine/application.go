package main

import (
	"fmt"
	"time"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/cache"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/sync"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/sync/common"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/kube"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/tracing"
	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	// mark is the label by which objects of this application are known again, as Argo CD sets one.
	mark  = "argocd.argoproj.io/instance"
	round = time.Second
)

// application is a folder of manifests, and the cluster that it is synced to.
type application struct {
	namespace string
	script    scriptedHealth
	targets   []*unstructured.Unstructured
	config    *rest.Config
	cached    cache.ClusterCache
}

func open(given arguments) (application, error) {
	script, err := readScript(given.health)
	if err != nil {
		return application{}, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", given.kubeconfig)
	if err != nil {
		return application{}, err
	}
	config.QPS, config.Burst = 200, 400 // of the client itself, as Argo CD raises it: the cache lists every kind there is
	targets, err := readFolder(given.folder, given.namespace)
	if err != nil {
		return application{}, err
	}
	cached := cache.NewClusterCache(config, cache.SetLogr(logr.Discard()), cache.SetPopulateResourceInfoHandler(
		func(object *unstructured.Unstructured, _ bool) (any, bool) {
			name := object.GetLabels()[mark]
			return name, name != ""
		}))
	app := application{namespace: given.namespace, script: script, targets: targets, config: config, cached: cached}
	return app, cached.EnsureSynced()
}

// live is what the cluster has beside each object of the folder.
func (app application) live() (sync.ReconciliationResult, error) {
	ours := func(resource *cache.Resource) bool { return resource.Info == app.namespace }
	found, err := app.cached.GetManagedLiveObjs(app.targets, ours)
	if err != nil {
		return sync.ReconciliationResult{}, err
	}
	return sync.Reconcile(app.targets, found, app.namespace, app.cached), nil
}

// sync goes round by round until the operation is over, as the controller of Argo CD does: each round begins with what
// the last one came to, and looks at the live objects anew.
func (app application) sync(deadline time.Time) ([]Synced, error) {
	phase, message, results := common.OperationRunning, "", []common.ResourceSyncResult{}
	for started := metav1.Now(); ; time.Sleep(round) {
		var err error
		phase, message, results, err = app.round(phase, message, results, started)
		switch {
		case err != nil:
			return synced(results), err
		case phase == common.OperationSucceeded:
			return synced(results), nil
		case phase.Completed():
			return synced(results), fmt.Errorf("%s: %s", phase, message)
		case time.Now().After(deadline):
			return synced(results), fmt.Errorf("not in time: %s", message)
		}
	}
}

func (app application) round(
	phase common.OperationPhase, message string, results []common.ResourceSyncResult, started metav1.Time,
) (common.OperationPhase, string, []common.ResourceSyncResult, error) {
	found, err := app.live()
	if err != nil {
		return phase, message, results, err
	}
	kubectl := &kube.KubectlCmd{Log: logr.Discard(), Tracer: tracing.NopTracer{}}
	context, cleanup, err := sync.NewSyncContext("", found, app.config, app.config, kubectl, app.namespace,
		sync.WithPrune(true), sync.WithHealthOverride(app.script), sync.WithLogr(logr.Discard()),
		sync.WithInitialState(phase, message, results, started))
	if err != nil {
		return phase, message, results, err
	}
	defer cleanup()
	context.Sync()
	phase, message, results = context.GetState()
	return phase, message, results, nil
}
