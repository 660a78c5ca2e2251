//go:build programs

// Package programs names the command, so that `go mod tidy` keeps its module.
package programs

import (
	_ "sigs.k8s.io/lws/cmd"
)
