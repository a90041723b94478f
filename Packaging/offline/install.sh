#!/bin/sh
# Installs Aldaba from this folder, without a network:
#   ./install.sh                 the server, the agent and all commands
#   ./install.sh aldaba-agent    the agent and all commands, without the server's service, user and /etc/aldaba
# It runs as root. What the machine has already, in this version or a newer one, stays.
set -eu
fail() { echo "install.sh: $1" >&2; exit 1; }
cd "$(dirname "$0")"

package=${1:-aldaba}
[ $# -le 1 ] || fail "one package at most: aldaba (the default) or aldaba-agent"
case $package in
aldaba | aldaba-agent) ;;
*) fail "'$package' is no package of this bundle; there are aldaba (the default) and aldaba-agent" ;;
esac
[ "$(id -u)" = 0 ] || fail "only root can install packages; run: sudo ./install.sh $package"

sha256sum --check --quiet --strict SHA256SUMS ||
    fail "the files above differ from what was packed, or are missing; copy the bundle again. Nothing was installed"
echo "checksums: $(wc -l < SHA256SUMS) files are as they were packed"

# shellcheck source=/dev/null
system=$(. /etc/os-release && echo "$ID ${VERSION_ID:-}")
architecture=$(dpkg --print-architecture)
made=$(cat SYSTEM)
[ "$system" = "$made" ] || fail "the packages are for $made, and this machine has $system. Nothing was installed"
[ -n "$(find packages -name "aldaba_*_$architecture.deb")" ] ||
    fail "the packages are not for this machine's processor, $architecture. Nothing was installed"

# apt chooses among the packages of this folder alone, and keeps what it learns of them in a folder that is removed.
state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT
mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$state/parts"
source=$(echo "$PWD/packages" | sed 's/%/%25/g; s/ /%20/g')
echo "deb [trusted=yes] file:$source ./" > "$state/sources.list"
from_here() {
    DEBIAN_FRONTEND=noninteractive apt-get --quiet --quiet -o Dir::Etc::SourceList="$state/sources.list" \
        -o Dir::Etc::SourceParts="$state/parts" -o Dir::State::Lists="$state/lists" -o Dir::Cache="$state/cache" \
        -o APT::Sandbox::User=root -o Dpkg::Use-Pty=false "$@"
}
from_here update
# dpkg asks nothing, also not about a changed /etc/aldaba/aldaba.yaml, which stays.
from_here install --yes --no-install-recommends -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold \
    "$package"
echo "$package $(dpkg-query --show --showformat '${Version}' "$package") is installed"
