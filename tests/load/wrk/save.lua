-- wrk: Save, ten changed answers at a time, each on the version the last receipt named.
--
--   EVIDENCED_TOKENS=token,token,… EVIDENCED_PROJECT=P EVIDENCED_FORM=F EVIDENCED_STAGE=T EVIDENCED_STUDIES=S,S,… \
--       wrk -t N -c N -d 10s -s tests/load/wrk/save.lua http://127.0.0.1:8080
--
-- As many connections as threads: a thread is one reviewer, with a token of their own, on one study; with fewer studies
-- than threads they share them. The form has the text questions q1 … q200 and the reviewers no session on it yet.

local QUESTIONS, CHANGED = 200, 10

local function need(name)
    return os.getenv(name) or error(name .. " is not set")
end

local function list(text)
    local items = {}
    for item in text:gmatch("[^,]+") do table.insert(items, item) end
    return items
end

local threads = {}

function setup(thread)
    local tokens, studies = list(need("EVIDENCED_TOKENS")), list(need("EVIDENCED_STUDIES"))
    local number = #threads + 1
    if tokens[number] == nil then error("there are fewer tokens than threads") end
    thread:set("number", number)
    thread:set("token", tokens[number])
    thread:set("study", studies[(number - 1) % #studies + 1])
    table.insert(threads, thread)
end

function init()
    math.randomseed(os.time() * 1000 + number)
    path = string.format("/v1/projects/%s/studies/%s/forms/%s/session/save", need("EVIDENCED_PROJECT"), study,
        need("EVIDENCED_FORM"))
    stage = need("EVIDENCED_STAGE")
    version, revisions = nil, {}
    first, turn = 1, 0
    saved, exhausted, unexpected = 0, 0, 0
end

local function uuid()
    local word = function() return math.random(0, 0xffff) end
    return string.format("%04x%04x-%04x-4%03x-%04x-%04x%04x%04x", word(), word(), word(), math.random(0, 0xfff),
        0x8000 + math.random(0, 0x3fff), word(), word(), word())
end

local function quoted(id)
    return id and '"' .. id .. '"' or "null"
end

function request()
    local answers = {}
    turn = turn + 1
    for i = first, first + CHANGED - 1 do
        table.insert(answers, string.format('{"question":"q%d","value":"%d seen %d","baseRevision":%s}', i, number, turn,
            quoted(revisions[i])))
    end
    local body = string.format('{"stage":"%s","formVersion":1,"draft":null,"baseVersion":%s,"answers":[%s]}', stage,
        quoted(version), table.concat(answers, ","))
    return wrk.format("POST", path, {
        ["Authorization"] = "Bearer " .. token,
        ["Content-Type"] = "application/json",
        ["Idempotency-Key"] = uuid(),
    }, body)
end

function response(status, headers, body)
    if status ~= 200 then
        if body:find('"outcome":"RetryableConflict"', 1, true) then exhausted = exhausted + 1
        else unexpected = unexpected + 1 end
        return
    end
    saved = saved + 1
    version = body:match('"versionId":"([^"]+)"')
    local i = first
    for revision in body:gmatch('"revision":"([^"]+)"') do
        revisions[i] = revision
        i = i + 1
    end
    first = (first - 1 + CHANGED) % QUESTIONS + 1
end

function done(summary, latency)
    local counts = {saved = 0, exhausted = 0, unexpected = 0}
    for name in pairs(counts) do
        for _, thread in ipairs(threads) do counts[name] = counts[name] + thread:get(name) end
    end
    io.write(string.format("%d saved, %d out of attempts, %d unexpected; p95 %.2f ms, p99 %.2f ms, slowest %.2f ms\n",
        counts.saved, counts.exhausted, counts.unexpected, latency:percentile(95) / 1000,
        latency:percentile(99) / 1000, latency.max / 1000))
end
