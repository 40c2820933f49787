# shellcheck shell=bash disable=SC2034
#
# Shared by the scripts beside it; sourced by bash, never run.
#
# Callers get: $root, the top of the source tree; the lists of packages; and
# the functions below.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build_jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
python=/usr/bin/python3

# Names are Debian's.
packages_build=(autoconf automake pkg-config gcc make libc6-dev libev-dev
    libyaml-dev libjemalloc-dev libssl-dev libmicrohttpd-dev libjansson-dev
    libxxhash-dev libc-ares-dev uthash-dev libsystemd-dev)
packages_demo=(redis-server redis-tools curl)
packages_test=(check redis-server redis-sentinel redis-tools nutcracker
    haproxy python3 python3-pytest python3-pytest-xdist python3-redis
    python3-yaml clang libclang-rt-dev curl mandoc iproute2 procps php-cli php-redis ruby
    ruby-redis libhiredis-dev)
# Applications that are tried through the proxy.
packages_test+=(python3-django python3-django-redis python3-channels-redis
    python3-celery python3-rq ruby-sidekiq ruby-redis-namespace)
packages_lint=(clang clang-tools clang-tidy clang-format cppcheck)
# What is here already from elsewhere is not installed a second time.
command -v node >/dev/null || packages_test+=(nodejs)
command -v npm >/dev/null || packages_test+=(npm)

say() {
    printf '%s\n' "$*"
}

die() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# --- packages ---------------------------------------------------------------

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

# The names among the arguments that are not installed, one a line.
missing_packages() {
    local name status
    for name in "$@"; do
        # One that it has never heard of is no failure of the script.
        status=$(dpkg-query -W -f '${db:Status-Abbrev}' "$name" 2>/dev/null) ||
            status=
        [ "${status:0:2}" = ii ] || printf '%s\n' "$name"
    done
}

installed_packages() {
    dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' |
        awk '$1 == "ii" { print $2 }' | sort -u
}

apt_install() {
    local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -y -q
        -o Dpkg::Use-Pty=0)
    as_root "${apt[@]}" install --no-install-recommends "$@" ||
        { as_root "${apt[@]}" update &&
            as_root "${apt[@]}" install --no-install-recommends "$@"; }
}

# Debian enables the services of a new package; ours are only tools here.
disable_units_of() {
    local unit package
    for package in "$@"; do
        case $package in systemd* | dbus*) continue ;; esac
        for unit in $(dpkg -L "$package" 2>/dev/null |
            sed -nE 's#^(/usr)?/lib/systemd/system/([^/@]+\.(service|timer|socket))$#\2#p'); do
            if command -v systemctl >/dev/null; then
                as_root systemctl disable --quiet "$unit" 2>/dev/null
                [ ! -d /run/systemd/system ] ||
                    as_root systemctl stop "$unit" 2>/dev/null
            else
                as_root env DPKG_MAINTSCRIPT_PACKAGE="$package" \
                    deb-systemd-helper disable "$unit" >/dev/null 2>&1
            fi
        done
        if [ -x "/etc/init.d/$package" ] && command -v update-rc.d >/dev/null
        then
            as_root update-rc.d "$package" disable >/dev/null 2>&1
        fi
    done
    return 0
}

# apt-get with services kept from starting; what was new ends disabled.
install_quietly() (
    policy=/usr/sbin/policy-rc.d
    if [ ! -e "$policy" ]; then
        trap 'as_root rm -f "$policy"' EXIT
        trap 'exit 130' INT
        trap 'exit 143' TERM
        printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
        as_root chmod 755 "$policy"
    fi
    before=$(installed_packages)
    apt_install "$@"
    status=$?
    # shellcheck disable=SC2046
    disable_units_of $(comm -13 <(printf '%s\n' "$before") \
        <(installed_packages))
    exit "$status"
)

# Make sure that the packages named are there.
need_packages() {
    local missing
    if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null
    then
        say "This is not Debian: please see that what it calls $* is there."
        return 0
    fi
    mapfile -t missing < <(missing_packages "$@")
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
        say "Missing, and neither root nor sudo to install it: ${missing[*]}" >&2
        return 1
    fi
    say "Installing ${missing[*]}"
    install_quietly "${missing[@]}"
}

# --- ports and processes ----------------------------------------------------

port_is_free() {
    ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# A port of 127.0.0.1 that nobody listens on, below those that the kernel
# gives to outgoing connections.
free_port() {
    local port
    while :; do
        port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
        port_is_free "$port" && break
    done
    printf '%s\n' "$port"
}

# Run a condition again and again until it holds: wait_for SECONDS COMMAND...
wait_for() {
    local end=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.05
    done
}

# --- sanitizers -------------------------------------------------------------

# The sanitizers of our compilers cannot live with as much address-space
# randomisation as new kernels have: no_aslr COMMAND... runs without it.
no_aslr() {
    local bits
    bits=$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 0)
    if [ "$bits" -gt 28 ] && setarch "$(uname -m)" -R true 2>/dev/null; then
        setarch "$(uname -m)" -R "$@"
    else
        "$@"
    fi
}
