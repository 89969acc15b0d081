# Shared by the setup scripts: where things are, and how to say what happens.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
data=${INTERMEZZO_DATA:-$root/.intermezzo}
python=${PYTHON:-python3}

say() { printf '  %s\n' "$*"; }
stop() {
  printf '%s\n' "$1" >&2
  [ -z "${2:-}" ] || printf '  %s\n' "$2" >&2
  exit 1
}

# Installs Debian packages, given as one list; nothing for an empty one.
require_packages() {
  [ -n "$1" ] || return 0
  command -v apt-get >/dev/null 2>&1 || stop "Missing:$1" "Install them with your system's package manager, then run this again."
  [ "$(id -u)" = 0 ] || stop "Missing:$1" "sudo apt-get install$1"
  say "installing$1"
  apt-get update -q >/dev/null
  # shellcheck disable=SC2086 - a list of package names
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $1 >/dev/null
}

# One digest over the files that a step depends on: the step is done again when one of them changes.
digest() { { printf '%s\n' "$("$python" --version)"; cat "$@"; } | sha256sum | cut -d' ' -f1; }
is_done() { [ -f "$1" ] && [ "$(cat "$1")" = "$2" ]; }
