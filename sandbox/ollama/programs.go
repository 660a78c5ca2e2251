//go:build programs

// Package programs names the command, so that `go mod tidy` keeps its modules.
package programs

import _ "github.com/ollama/ollama"
