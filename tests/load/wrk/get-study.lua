-- wrk: GET one study.
--
--   EVIDENCED_TOKEN=… wrk -t 2 -c 10 -d 10s -s tests/load/wrk/get-study.lua http://127.0.0.1:8080/v1/projects/P/studies/S
--
-- One caller: the daemon needs --subject-in-flight, --subject-rate and --subject-burst above what this sends.

local token = os.getenv("EVIDENCED_TOKEN") or error("EVIDENCED_TOKEN is not set")

wrk.method = "GET"
wrk.headers["Authorization"] = "Bearer " .. token

local threads = {}

function setup(thread)
    table.insert(threads, thread)
end

function init()
    unexpected = 0
end

function response(status)
    if status ~= 200 then unexpected = unexpected + 1 end
end

function done(summary, latency)
    local count = 0
    for _, thread in ipairs(threads) do count = count + thread:get("unexpected") end
    io.write(string.format("p50 %.2f ms, p95 %.2f ms, p99 %.2f ms; %d answers that were not 200\n",
        latency:percentile(50) / 1000, latency:percentile(95) / 1000, latency:percentile(99) / 1000, count))
end
