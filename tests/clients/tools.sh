# Sourced by scripts of this repository: test tools of other people, at pinned versions, outside the checkout.
# Every function prints a path; when a tool cannot be had it returns 1 and the reason is in $tools_error.
# $work is a folder that goes when the script ends.

NODE=22.23.3
PYTHON_MCP=2.3.0
TYPESCRIPT_CLIENT=2.4.0
TYPESCRIPT_SDK=1.32.2
INSPECTOR=2.12.0
tools_home="${XDG_CACHE_HOME:-$HOME/.cache}/powerstrip"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tools_error="$work/tools-error"
touch "$tools_error"

# install_once FOLDER COMMAND...: runs COMMAND with FOLDER as its last argument unless that succeeded before.
install_once() {
    local folder=$1
    shift
    [[ -e $folder/.ready ]] && return
    mkdir -p "$tools_home"
    (
        flock 9
        [[ -e $folder/.ready ]] && exit
        rm -rf "$folder"
        mkdir -p "$folder"
        "$@" "$folder" >"$tools_error" 2>&1 && touch "$folder/.ready"
    ) 9>"$tools_home/install.lock"
}

# npm_tool NAME VERSION: the node_modules folder that holds the package.
npm_tool() {
    local folder="$tools_home/node-tools/${1//\//_}@$2"
    install_once "$folder" npm install --no-audit --no-fund --loglevel=error "$1@$2" --prefix && echo "$folder/node_modules"
}

# python_tool NAME VERSION: a Python interpreter that can import the package.
python_tool() {
    local folder="$tools_home/python-tools/$1@$2"
    install_once "$folder" make_venv "$1==$2" && echo "$folder/bin/python"
}

make_venv() {
    python3 -m venv "$2" && "$2/bin/pip" install --quiet --disable-pip-version-check "$1"
}

# node_22: a Node that the suite and the Inspector can use, 22.19 or newer.
node_22() {
    local modules
    if command -v node >/dev/null && node -e 'const [a, b] = process.versions.node.split("."); process.exit(+a > 22 || (+a === 22 && +b >= 19) ? 0 : 1)'; then
        command -v node
    else
        modules=$(npm_tool node "$NODE") && [[ -x $modules/.bin/node ]] && echo "$modules/.bin/node"
    fi
}

# hold_port: a free port for a server that cannot pick one itself, in $port. A port that is bound but not listened on is not given to
# other processes; the process that keeps it bound is added to $started.
hold_port() {
    exec {place}< <(exec python3 -c '
import signal, socket
kept = socket.socket()
kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
kept.bind(("127.0.0.1", 0))
print(kept.getsockname()[1], flush=True)
signal.pause()')
    started+=($!)
    read -r -u "$place" port
}
