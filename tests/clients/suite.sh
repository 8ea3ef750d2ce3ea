# Sourced after tools.sh by scripts that run the official conformance suite. They set $root and $node first.

SUITE=0.2.0-alpha.12
suite=''

# install_suite: puts the suite's folder into $suite.
install_suite() {
    local modules
    modules=$(npm_tool @modelcontextprotocol/conformance "$SUITE") && suite="$modules/@modelcontextprotocol/conformance"
}

# run_suite URL REVISION FOLDER: the suite's own verdict leaves out what a revision does not score, so only its results are used.
run_suite() {
    timeout --foreground 600 "$node" "$suite/dist/index.js" server --url "$1" --requirements "$2" -o "$3" >"$3.txt" 2>&1 || true
}

# start_gateway BINARY FOLDER ENTRY TOOL: starts a gateway with one server and waits until it lists TOOL. Sets $gateway_url and
# $gateway_process.
start_gateway() {
    local offers=''
    mkdir -p "$2/tools"
    printf 'listen: 127.0.0.1:0\nservers:\n  %s\n' "$3" >"$2/powerstrip.yaml"
    (cd "$2" && exec "$1" serve --config powerstrip.yaml 2>"$2/log" >/dev/null) &
    gateway_process=$!
    gateway_url=''
    for _ in $(seq 600); do
        # The line that says so, whole: what is logged before it may name other places, and the last line may be half written.
        gateway_url=$(sed -n '$!s|^powerstrip .* on \(http://[0-9.]*:[0-9]*\).*|\1|p' "$2/log" 2>/dev/null) || true
        [[ -n $gateway_url ]] && offers=$(curl -fsS "$gateway_url/mcp/discover" 2>/dev/null) || true
        [[ $offers == *"$4"* ]] && return
        kill -0 "$gateway_process" 2>/dev/null || return 1
        sleep 0.1
    done
    return 1
}
