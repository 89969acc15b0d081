-- Runs on the way to and from a workspace. Nothing of ours reaches it: no cookie, no grant in the query. Nothing it
-- answers can replace a cookie of ours. A change that another site's page asks for does not pass.

local SAFE = { GET = true, HEAD = true, OPTIONS = true }

local function without_ours(cookies)
  local kept = {}
  for cookie in cookies:gmatch("[^;]+") do
    local trimmed = cookie:match("^%s*(.-)%s*$")
    if trimmed ~= "" and trimmed:sub(1, 11) ~= "intermezzo_" then
      kept[#kept + 1] = trimmed
    end
  end
  return table.concat(kept, "; ")
end

local function without_token(path)
  local before, query = path:match("^([^?]*)%?(.*)$")
  if query == nil then
    return path
  end
  local kept = {}
  for pair in query:gmatch("[^&]+") do
    if pair ~= "token" and pair:sub(1, 6) ~= "token=" then
      kept[#kept + 1] = pair
    end
  end
  if #kept == 0 then
    return before
  end
  return before .. "?" .. table.concat(kept, "&")
end

local function is_foreign(headers)
  local origin = headers:get("origin")
  if origin == nil or SAFE[headers:get(":method")] then
    return false
  end
  if origin == PUBLIC_ORIGIN then
    return false
  end
  local host = headers:get("x-forwarded-host") or headers:get(":authority")
  return origin ~= "http://" .. host and origin ~= "https://" .. host
end

function envoy_on_request(handle)
  local headers = handle:headers()
  if is_foreign(headers) then
    handle:respond({ [":status"] = "403", ["content-type"] = "application/problem+json" },
      '{"title":"Forbidden","status":403,"detail":"the request comes from a page of another site",' ..
      '"code":"forbidden","hint":""}')
    return
  end
  local cookies = headers:get("cookie")
  if cookies ~= nil and cookies:find("intermezzo_", 1, true) then
    local kept = without_ours(cookies)
    if kept == "" then
      headers:remove("cookie")
    else
      headers:replace("cookie", kept)
    end
  end
  local path = headers:get(":path")
  if path:find("token", 1, true) then
    headers:replace(":path", without_token(path))
  end
end

function envoy_on_response(handle)
  local headers = handle:headers()
  local set = headers:get("set-cookie")
  if set == nil then
    return
  end
  local kept = {}
  for index = 0, headers:getNumValues("set-cookie") - 1 do
    local cookie = headers:getAtIndex("set-cookie", index)
    if cookie:match("^%s*(.-)=") == nil or cookie:match("^%s*(.-)="):sub(1, 11) ~= "intermezzo_" then
      kept[#kept + 1] = cookie
    end
  end
  headers:remove("set-cookie")
  for _, cookie in ipairs(kept) do
    headers:add("set-cookie", cookie)
  end
end
