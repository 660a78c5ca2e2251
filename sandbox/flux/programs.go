//go:build programs

// Package programs names the commands, so that `go mod tidy` keeps their modules.
package programs

import (
	_ "github.com/fluxcd/helm-controller"
	_ "github.com/fluxcd/kustomize-controller"
	_ "github.com/fluxcd/source-controller"
)
