//go:build programs

// Package programs names the command the scale bench builds, so that `go mod tidy` keeps its modules.
package programs

import _ "sigs.k8s.io/kwok/cmd/kwok"
