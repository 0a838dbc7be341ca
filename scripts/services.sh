#!/bin/sh
# Makes sure the services the tests start are installed: by apt where we may, else it says what to install and fails.
set -eu
PATH="$PATH:/usr/sbin:/sbin"

missing=""
need() { command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }
need_library() { ldconfig -p 2>/dev/null | grep -q "$1" || missing="$missing $2"; }

# Newer Debians and Ubuntus put t64 after the name of some libraries; apt knows which once it has its lists.
named_here() {
    for package in "$@"; do
        if apt-cache show "${package}t64" 2>/dev/null | grep -q "^Package: ${package}t64\$"; then
            package="${package}t64"
        fi
        printf ' %s' "$package"
    done
}

need chromium chromium
# Reads the units of deploy/ as the system that runs them would.
need systemd-analyze systemd
need redis-server redis-server
# Slows the disk of a database down under the tests' hands.
need strace strace
# The page on crawlers asks for a crawl with it.
need curl curl
# Playwright's driver is a Node that links to it; a bare Debian has it not.
need_library libatomic.so.1 libatomic1
# The wheel that brings mongod does not bring these.
need_library libcurl.so.4 libcurl4
need_library libssl.so.3 libssl3

# Moves the clock of a database under the tests' hands. It is preloaded, so no loader's list has it.
ls /usr/lib/*/faketime/libfaketimeMT.so.1 >/dev/null 2>&1 || missing="$missing libfaketime"

# Its script in sbin may be missing for who is not root; the program itself is where Debian puts it.
ls /usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server >/dev/null 2>&1 || missing="$missing rabbitmq-server"

[ -z "$missing" ] && exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    echo "The tests need these programs, and this machine has no apt-get:$missing. Install them and try again." >&2
    exit 1
fi
if [ "$(id -u)" = 0 ]; then
    run=""
elif sudo -n true 2>/dev/null; then
    run="sudo"
else
    # shellcheck disable=SC2086
    echo "The tests need Debian packages. Install them and try again: sudo apt-get install$(named_here $missing)" >&2
    exit 1
fi
echo "Installing$missing …"
export DEBIAN_FRONTEND=noninteractive
$run apt-get update -q
# The tests start what they need, each of its own. What Debian would start besides is nobody's business here: a policy
# says no to all of it, unless the machine has a policy already.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap '$run rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' | $run tee "$policy" >/dev/null
    $run chmod 755 "$policy"
fi
# shellcheck disable=SC2046,SC2086
$run apt-get install -y -q --no-install-recommends $(named_here $missing)
