-- Health of an LLMService: what its status says about the generation that is asked for.
--
-- | status                             | health      |
-- |------------------------------------|-------------|
-- | about an older generation, or none | Progressing |
-- | Stalled is True                    | Degraded    |
-- | Reconciling is True                | Progressing |
-- | Ready is True                      | Healthy     |
-- | anything else                      | Progressing |

local status = obj.status or {}
local conditions = {}
for _, condition in ipairs(status.conditions or {}) do
  conditions[condition.type] = condition
end

local function holds(name)
  return conditions[name] ~= nil and conditions[name].status == "True"
end

local function health()
  if status.observedGeneration ~= obj.metadata.generation then
    return { status = "Progressing", message = "Waiting for the operator to observe this generation" }
  end
  if holds("Stalled") then
    return { status = "Degraded", message = conditions.Stalled.message }
  end
  if holds("Reconciling") then
    return { status = "Progressing", message = conditions.Reconciling.message }
  end
  if conditions.Ready == nil then
    return { status = "Progressing", message = "Waiting for the condition Ready" }
  end
  if not holds("Ready") then
    return { status = "Progressing", message = conditions.Ready.message }
  end
  return { status = "Healthy", message = conditions.Ready.message }
end

return health()
