// Argo-engine syncs a folder of manifests once, with the engine of Argo CD, and prints what came of it as JSON.
//
//	argo-engine --kubeconfig FILE --namespace NAME --health health.lua [--timeout 60s] [--dry-run] FOLDER
//
// What an application of Argo CD does besides (a repository, a page, its own resources) has no part in it. Objects of
// an earlier sync that the folder no longer has are pruned. With --dry-run nothing is written, only compared. Exit code
// 1: the cluster could not be read, or the sync failed or did not end in time; the JSON says how far it came.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"
)

type arguments struct {
	kubeconfig, namespace, health, folder string
	timeout                               time.Duration
	dryRun                                bool
}

func main() {
	given := parse()
	report, err := run(given)
	if err != nil {
		report.Error = err.Error()
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	if printed := out.Encode(report); printed != nil || err != nil {
		os.Exit(1)
	}
}

func parse() arguments {
	var given arguments
	flag.StringVar(&given.kubeconfig, "kubeconfig", "", "credentials of the cluster")
	flag.StringVar(&given.namespace, "namespace", "default", "where objects without a namespace go")
	flag.StringVar(&given.health, "health", "", "script in Lua that judges LLMServices")
	flag.DurationVar(&given.timeout, "timeout", time.Minute, "how long a sync may take")
	flag.BoolVar(&given.dryRun, "dry-run", false, "compare, and write nothing")
	flag.Parse()
	if flag.NArg() != 1 || given.health == "" {
		fmt.Fprintln(os.Stderr, "usage: argo-engine --kubeconfig FILE --health FILE FOLDER")
		flag.PrintDefaults()
		os.Exit(2)
	}
	given.folder = flag.Arg(0)
	return given
}

func run(given arguments) (Report, error) {
	app, err := open(given)
	if err != nil {
		return Report{}, err
	}
	defer app.cached.Invalidate()
	var report Report
	if !given.dryRun {
		report.Synced, err = app.sync(time.Now().Add(given.timeout))
	}
	found, compared := app.compare()
	report.Objects = found
	if err == nil {
		err = compared
	}
	return report, err
}
