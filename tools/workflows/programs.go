//go:build programs

// Package programs names the linter of workflows, so that `go mod tidy` keeps its modules.
package programs

import _ "github.com/rhysd/actionlint/cmd/actionlint"
