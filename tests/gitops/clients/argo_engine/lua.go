package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/health"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const kind = "LLMService"

// scriptedHealth judges LLMServices by a script in Lua, as Argo CD does with a resource customization: the object is
// the global obj, and only the language's own libraries are open. Other kinds are left to the engine.
type scriptedHealth struct{ script string }

func readScript(path string) (scriptedHealth, error) {
	text, err := os.ReadFile(path)
	return scriptedHealth{script: string(text)}, err
}

// GetResourceHealth implements health.HealthOverride.
func (s scriptedHealth) GetResourceHealth(object *unstructured.Unstructured) (*health.HealthStatus, error) {
	if object.GetKind() != kind {
		return nil, nil
	}
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{
		"": lua.OpenBase, lua.TabLibName: lua.OpenTable, lua.StringLibName: lua.OpenString,
	} {
		state.Push(state.NewFunction(open))
		state.Push(lua.LString(name))
		state.Call(1, 0)
	}
	state.SetGlobal("obj", toLua(state, object.Object))
	if err := state.DoString(s.script); err != nil {
		return nil, err
	}
	return toStatus(state.Get(-1))
}

func toStatus(value lua.LValue) (*health.HealthStatus, error) {
	table, ok := value.(*lua.LTable)
	if !ok {
		return nil, fmt.Errorf("the script returned %s, not a table", value.Type())
	}
	status := &health.HealthStatus{
		Status:  health.HealthStatusCode(table.RawGetString("status").String()),
		Message: table.RawGetString("message").String(),
	}
	return status, nil
}

func toLua(state *lua.LState, value any) lua.LValue {
	switch given := value.(type) {
	case bool:
		return lua.LBool(given)
	case int64:
		return lua.LNumber(given)
	case float64:
		return lua.LNumber(given)
	case json.Number:
		number, _ := given.Float64()
		return lua.LNumber(number)
	case string:
		return lua.LString(given)
	case []any:
		table := state.NewTable()
		for _, item := range given {
			table.Append(toLua(state, item))
		}
		return table
	case map[string]any:
		table := state.NewTable()
		for key, item := range given {
			table.RawSetString(key, toLua(state, item))
		}
		return table
	}
	return lua.LNil
}
