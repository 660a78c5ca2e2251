"""The program of the engine's container: fetch the model, load it, and only then give it the names clients use.

Ollama answers from its first second, with or without a model. So that nobody is sent to it before the model is loaded:

1. A server that only this container reaches pulls the model, or takes a GGUF file from a volume, under a name that no
   client knows. A file is linked, not copied.
2. The server that the proxy reaches loads it. Then the model gets its names, which is what the health check looks for.
3. A client may unload the model (`keep_alive`); it is loaded again within a quarter of a minute.

What was fetched stays with the pod: a container that is restarted fetches nothing. Read at v0.17.4 and v0.32.15:
cmd/cmd.go (what the commands do), server/{routes,images,sched}.go, manifest/paths.go (`ollama rm` would unload the
model, so the first name is removed as a file).
"""

STAGED = "llmservice/preloaded"
"""The model's name until it is loaded."""

PULL = "pull"
"""How a model of a registry is fetched."""

CREATE = "create"
"""How a file is."""

START = f"""\
how=$1 from=$2 staged={STAGED} served=$OLLAMA_HOST log=$HOME/last-command
shift 2
server='' job=''
trap 'trap "" TERM INT; kill $job $server 2>/dev/null; wait; exit 143' TERM INT
say() {{ echo "llmservice: $*"; }}
quietly() {{ "$@" </dev/null >"$log" 2>&1 & job=$!; wait $job; status=$?; job=''; return $status; }}
fail() {{
  tr '\\r' '\\n' <"$log" | sed -n 's/^.*\\(Error: \\)/\\1/; /^Error: /,$p' | head -n 8
  say "$1"
  kill $server 2>/dev/null
  wait
  exit 1
}}
serve() {{
  export OLLAMA_HOST="$1"
  ollama serve &
  server=$!
  until quietly ollama list; do
    kill -0 $server 2>/dev/null || {{ say "the server ended"; wait; exit 1; }}
    sleep 0.2
  done
}}
stop() {{ kill $server; wait $server; server=''; }}
has() {{ quietly ollama show "$1"; }}
load() {{
  quietly ollama run "$1" && return
  grep -aq 'embedding models require' "$log" && quietly ollama run "$1" .
}}
fetch() {{
  if has "$1"; then quietly ollama cp "$1" $staged; fi
  if ! has $staged; then
    say "fetching $from"
    : >"$log"
    if [ "$how" = {PULL} ]; then
      quietly ollama pull "$from" && quietly ollama cp "$from" $staged && quietly ollama rm "$from"
    else
      sum=$(sha256sum "$from") && ln -sf "$from" "$OLLAMA_MODELS/blobs/sha256-${{sum%% *}}" &&
        echo "FROM $from" >"$HOME/Modelfile" && quietly ollama create $staged -f "$HOME/Modelfile"
    fi || fail "cannot fetch $from"
    say "fetched"
  fi
  for name; do if has "$name"; then quietly ollama rm "$name"; fi; done
}}
serve 127.0.0.1:11434
fetch "$@"
stop
serve "$served"
say "loading"
load $staged || fail "cannot load the model"
for name; do quietly ollama cp $staged "$name" || fail "cannot name the model $name"; done
rm -f "$OLLAMA_MODELS/manifests/registry.ollama.ai/$staged/latest"
say "serving $*"
failures=0
while kill -0 $server 2>/dev/null; do
  sleep 15 & job=$!
  wait $job
  [ -z "$(ollama ps | tail -n +2)" ] || continue
  kill -0 $server 2>/dev/null || break
  say "loading again"
  if load "$1"; then failures=0; else failures=$((failures + 1)); fi
  [ $failures -lt 3 ] || fail "cannot load the model again"
done
wait $server
exit $?
"""
