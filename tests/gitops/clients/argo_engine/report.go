package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/diff"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/health"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/sync/common"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Report is what is printed.
type Report struct {
	Synced  []Synced `json:"synced"`
	Objects []Object `json:"objects"`
	Error   string   `json:"error,omitempty"`
}

// Synced is one task of the sync: an object that was applied or pruned, in the order of waves.
type Synced struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Result  string `json:"result"`
	Phase   string `json:"phase"`
	Message string `json:"message"`
}

// Object is one object of the folder, or one that should be pruned, after the sync.
type Object struct {
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Exists    bool   `json:"exists"`
	Wanted    bool   `json:"wanted"`
	OutOfSync bool   `json:"outOfSync"`
	Health    string `json:"health"`
	Message   string `json:"message"`
}

func readFolder(folder, instance string) ([]*unstructured.Unstructured, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var all []*unstructured.Unstructured
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		objects, err := kube.SplitYAML(text)
		if err != nil {
			return nil, err
		}
		all = append(all, objects...)
	}
	for _, object := range all {
		labels := object.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		labels[mark] = instance
		object.SetLabels(labels)
	}
	return all, nil
}

func synced(results []common.ResourceSyncResult) []Synced {
	all := make([]Synced, 0, len(results))
	for _, each := range results {
		all = append(all, Synced{
			Kind: each.ResourceKey.Kind, Name: each.ResourceKey.Name,
			Result: string(each.Status), Phase: string(each.HookPhase), Message: each.Message,
		})
	}
	return all
}

func (app application) compare() ([]Object, error) {
	result, err := app.live()
	if err != nil {
		return nil, err
	}
	differences, err := diff.DiffArray(result.Target, result.Live)
	if err != nil {
		return nil, err
	}
	all := make([]Object, 0, len(result.Target))
	var problems []error
	for i, target := range result.Target {
		object, err := judged(target, result.Live[i], app.script)
		object.OutOfSync = differences.Diffs[i].Modified
		all, problems = append(all, object), append(problems, err)
	}
	return all, errors.Join(problems...)
}

func judged(target, live *unstructured.Unstructured, script health.HealthOverride) (Object, error) {
	named := live
	if named == nil {
		named = target
	}
	object := Object{Kind: named.GetKind(), Name: named.GetName(), Exists: live != nil, Wanted: target != nil}
	if live == nil {
		object.Health = string(health.HealthStatusMissing)
		return object, nil
	}
	found, err := health.GetResourceHealth(live, script)
	if found != nil {
		object.Health, object.Message = string(found.Status), found.Message
	}
	return object, err
}
