"""A stdio server for the tests. Arguments: key=value; its tools do as their names say."""
import json, os, sys, threading, time

options = dict(arg.split("=", 1) for arg in sys.argv[1:] if "=" in arg)
era = options.get("era", "legacy")
lock = threading.Lock()
tools = options.get("tools", "echo,pid,count,sleep,crash,never,twice,wrong_id,garbage,noise,huge,half,cancelled,ask,env,add").split(",")
cancelled, answers, calls = [], {}, 0
listening = None

if "ledger" in options:
    with open(options["ledger"], "a") as ledger:
        ledger.write(f"{os.getpid()}\n")
if "crash" in options:
    print("cannot find the database", file=sys.stderr)
    sys.exit(7)
if "delay" in options:
    time.sleep(float(options["delay"]))
if "hold" in options:
    while not os.path.exists(options["hold"]):
        time.sleep(0.01)


def send(message):
    raw(json.dumps({"jsonrpc": "2.0", **message}) + "\n")


def raw(text):
    with lock:
        sys.stdout.write(text)
        sys.stdout.flush()


def text(value):
    return {"content": [{"type": "text", "text": value if isinstance(value, str) else json.dumps(value)}]}


def ask(method):
    """Asks the client and waits for its answer."""
    key = f"q{len(answers)}"
    answers[key] = None
    send({"id": key, "method": method, "params": {}})
    while answers[key] is None:
        time.sleep(0.005)
    return answers[key]


def changed():
    notice = {"method": "notifications/tools/list_changed"}
    if listening is not None:
        notice["params"] = {"_meta": {"io.modelcontextprotocol/subscriptionId": listening}}
    send(notice)


def call(id, name, arguments, meta):
    global calls
    calls += 1
    answer = lambda value: send({"id": id, "result": text(value)})
    if name == "echo":
        answer(arguments)
    elif name == "pid":
        answer(str(os.getpid()))
    elif name == "count":
        answer(str(calls))
    elif name == "sleep":
        time.sleep(arguments.get("seconds", 0.2))
        answer(arguments)
    elif name == "crash":
        print("the tool crashed", file=sys.stderr, flush=True)
        os._exit(3)
    elif name == "never":
        pass
    elif name == "twice":
        answer("first")
        answer("second")
    elif name == "wrong_id":
        send({"id": id + 1000, "result": text("crossed")})
        send({"id": str(id), "result": text("crossed")})
        send({"id": None, "result": text("crossed")})
        if arguments.get("then_right"):
            answer("right")
    elif name == "garbage":
        raw('{"jsonrpc":"2.0","id":%d,"result":{"content":\n' % id)
    elif name == "noise":
        raw("Server is running\n\n{'a': 1}\n")
        answer("after noise")
    elif name == "stray":
        raw('{"jsonrpc":"2.0"}\n')
        answer("after a stray line")
    elif name == "infinite":
        raw('{"jsonrpc":"2.0","id":%d,"result":{"content":[],"structuredContent":{"n":1e400}}}\n' % id)
    elif name == "surrogate":
        answer("cut \ud83d, whole \U0001f600")
    elif name == "era":
        answer(spoken)
    elif name == "huge":
        raw('{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"' % id)
        for _ in range(arguments["mb"]):
            raw("x" * 1_000_000)
        raw('"}]}}\n')
    elif name == "half":
        raw('{"jsonrpc":"2.0","id":%d,"result":{"con' % id)
        os._exit(0)
    elif name == "cancelled":
        answer(cancelled)
    elif name == "ask":
        answer(ask(arguments["method"]))
    elif name == "insist":
        send({"id": id, "result": {**text(f"no name: {ask('elicitation/create')}"), "isError": True}})
    elif name == "env":
        answer(dict(os.environ))
    elif name == "touch":
        send({"method": "notifications/resources/updated", "params": {"uri": arguments["uri"]}})
        answer("touched")
    elif name == "add":
        tools.append("added")
        changed()
        answer("done")
    else:
        send({"id": id, "error": {"code": -32602, "message": f"unknown tool: {name}"}})


def listing():
    described = {"description": "cut \ud83d"} if "cut" in options else {}
    return {"tools": [{"name": tool, "inputSchema": {"type": "object"}, **described} for tool in tools]}


def refuses(method, meta):
    """Whether the connection has begun in the other era. A moody server refuses everything once it was asked to initialize."""
    global spoken
    is_modern = meta.get("io.modelcontextprotocol/protocolVersion") == "2026-07-28"
    if spoken is None and (is_modern or method == "initialize"):
        spoken = "modern" if is_modern else "legacy"
    moody = era == "moody" and spoken == "legacy"
    return moody or (spoken == "legacy" and is_modern) or (spoken == "modern" and method == "initialize")


greeted, spoken = False, None
for line in sys.stdin:
    message = json.loads(line)
    id, method, params = message.get("id"), message.get("method"), message.get("params") or {}
    meta = params.get("_meta") or {}
    if era in ("both", "moody") and id is not None and method and refuses(method, meta):
        send({"id": id, "error": {"code": -32600, "message": "the other era is spoken here"}})
    elif method is None:
        answers[id] = message.get("result", message.get("error"))
    elif method == "notifications/cancelled":
        cancelled.append(params["requestId"])
    elif method == "notifications/initialized":
        greeted = True
    elif method == "initialize" and not era.endswith("modern"):
        if params["protocolVersion"] not in ("2025-11-25", "2025-06-18"):
            send({"id": id, "error": {"code": -32602, "message": "version"}})
            continue
        capabilities = {"tools": {"listChanged": True}}
        send({"id": id, "result": {"protocolVersion": "2025-06-18", "capabilities": capabilities,
                                   "serverInfo": {"name": "py", "version": "1"}}})
    elif era == "deaf" and not greeted:
        continue
    elif era == "frail" and not greeted:
        print("unexpected message before initialize", file=sys.stderr, flush=True)
        sys.exit(1)
    elif era == "legacy" and not greeted:
        send({"id": id, "error": {"code": -32000, "message": "not initialized"}})
    elif era.endswith("modern") and meta.get("io.modelcontextprotocol/protocolVersion") != "2026-07-28":
        send({"id": id, "error": {"code": -32022, "message": "version", "data": {"supported": ["2026-07-28"]}}})
    elif method == "server/discover":
        if era == "slow-modern":
            time.sleep(float(options["probe"]))
        send({"id": id, "result": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {"listChanged": True}}}})
    elif method == "subscriptions/listen":
        listening = id
        send({"method": "notifications/subscriptions/acknowledged",
              "params": {"_meta": {"io.modelcontextprotocol/subscriptionId": id}}})
    elif method == "tools/list" and "leave" in options:
        os._exit(3)
    elif method == "tools/list":
        send({"id": id, "result": listing()})
    elif method == "tools/call":
        arguments = params.get("arguments") or {}
        threading.Thread(target=call, args=(id, params["name"], arguments, meta), daemon=True).start()
    elif id is not None:
        send({"id": id, "error": {"code": -32601, "message": method}})
