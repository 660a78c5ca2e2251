"""The script with which the proxy checks keys, and the command that starts both.

HAProxy reads files in Lua, and Lua cannot list a folder: a shell beside it does. The shell is the container's first
process, so that both end together and no list grows old. What the kubelet changes in the volume is read within ten
seconds.
"""

from llmservice.rendering.proxy_config import CONFIG_FILE, CONFIG_FOLDER

KEYS_FOLDER = "/keys"
LIST_FOLDER = "/run/proxy"
_READ_EVERY_SECONDS = 5

KEYS_LUA = f"""\
-- Which client a request is of, by its key. An entry of the Secret is a client: each line is a key of it.
local FOLDER, LIST = "{KEYS_FOLDER}/", "{LIST_FOLDER}/names"
local LONGEST = 1048576 -- bytes in a Secret
local READ_EVERY = {_READ_EVERY_SECONDS}
local clients, read_at = {{}}, 0

local function lines_of(path)
  local file = io.open(path, "r")
  if not file then return nil end
  local text = file:read(LONGEST) or ""
  file:close()
  return string.gmatch(text, "[^\\r\\n]+")
end

-- By digests, so that how long a look-up takes says nothing of the keys.
local function digest(txn, key)
  return txn.c:sha2(key, 256)
end

local function add_keys_of(name, found, txn)
  local lines = lines_of(FOLDER .. name)
  if not lines then return end
  for line in lines do
    local key = string.match(line, "^%s*(%S+)%s*$")
    if key and string.sub(key, 1, 1) ~= "#" then found[digest(txn, key)] = name end
  end
end

local function read(txn)
  local names, found = lines_of(LIST), {{}}
  if not names then return end -- not listed yet: the clients stay as they are
  for name in names do add_keys_of(name, found, txn) end
  clients = found
end

-- No task of its own reads them: HAProxy would wait for it when it is to stop.
core.register_action("check_key", {{ "http-req" }}, function(txn)
  local now = core.now().sec
  if now - read_at >= READ_EVERY then
    read_at = now
    read(txn)
  end
  local bearer = string.match(txn.f:req_fhdr("authorization") or "", "^[Bb][Ee][Aa][Rr][Ee][Rr] +(%S+) *$")
  local key = bearer or txn.f:req_fhdr("x-api-key") or ""
  if key == "" then return end
  txn:set_var("txn.has_key", "yes")
  local client = clients[digest(txn, key)]
  if client then txn:set_var("txn.client", client) end
end)
"""

_START = f"haproxy -db -f {CONFIG_FOLDER}/{CONFIG_FILE}"

COMMAND = ("haproxy", "-db", "-f", f"{CONFIG_FOLDER}/{CONFIG_FILE}")
"""Without keys."""

COMMAND_WITH_KEYS = (
    "/bin/sh",
    "-c",
    f"""\
list() {{ ls {KEYS_FOLDER} > {LIST_FOLDER}/new && mv {LIST_FOLDER}/new {LIST_FOLDER}/names; }}
list
{_START} &
proxy=$!
trap 'kill -USR1 $proxy' TERM USR1
while kill -0 $proxy 2>/dev/null; do
  sleep {_READ_EVERY_SECONDS} &
  wait $!
  list
done
wait $proxy""",
)
"""With keys. A signal that ends the container lets the proxy finish what it has (SIGUSR1)."""
