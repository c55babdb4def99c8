#!/usr/bin/env bash
# Makes a Docker engine and a base image with Python reachable, so that the tests marked `docker` run: `.ci/run` calls it,
# and so may anyone who is root on Debian or Ubuntu. Says what it could not do and leaves with 1; harms nothing.
set -euo pipefail
IMAGE=grpo-rewards-base:latest
LOG=${TMPDIR:-/tmp}/grpo-rewards-dockerd.log

say() { echo "docker_base: $*" >&2; }

reachable() { docker version >/dev/null 2>&1; }

install() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || { say "cannot install $* (needs root and apt-get)"; exit 1; }
    say "installing $*"
    DEBIAN_FRONTEND=noninteractive apt-get -qq update >&2 || true
    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@" >&2
}

start_engine() {
    command -v dockerd >/dev/null || install docker.io
    command -v docker >/dev/null || install docker.io
    reachable && return
    # a first try as it is; where the machine lets it have no bridge or no iptables, containers need neither
    for flags in "" "--iptables=false --bridge=none" "--iptables=false --bridge=none --storage-driver=vfs"; do
        rm -f /var/run/docker.pid
        say "starting dockerd $flags"
        # shellcheck disable=SC2086
        setsid nohup dockerd $flags >"$LOG" 2>&1 </dev/null &
        engine=$!
        for _ in $(seq 60); do
            reachable && return
            kill -0 "$engine" 2>/dev/null || break
            sleep 0.5
        done
        kill "$engine" 2>/dev/null && wait "$engine" 2>/dev/null || true
    done
    say "dockerd does not start; its last words:"
    tail -n 5 "$LOG" >&2
    exit 1
}

from_this_machine() {
    # the files of this machine's own Debian python3: seconds, where debootstrap takes minutes
    /usr/bin/python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || return 1
    [ -L /bin ] && [ -L /lib ] || return 1
    packages=$(apt-cache depends --recurse --installed --no-recommends --no-suggests --no-conflicts --no-breaks \
        --no-replaces --no-enhances python3 python3-minimal libpython3-stdlib dash coreutils grep sed bash libc-bin tzdata gcc libc6-dev 2>/dev/null | grep -E '^[a-z0-9]') || return 1
    list=$(mktemp)
    {
        printf '%s\n' /bin /sbin /lib /lib64 /etc/ld.so.cache /etc/passwd /etc/group /tmp /proc /sys /dev /run /var /etc /root
        for package in $packages; do dpkg -L "$package" 2>/dev/null || true; done
    } | sed -E 's#^/(bin|sbin|lib|lib64)/#/usr/\1/#' | grep -vE '^/\.$|/share/(doc|man|locale|info|lintian)' | sort -u | while read -r path; do
        if [ -e "$path" ] || [ -L "$path" ]; then echo ".$path"; fi
    done >"$list"
    tar -C / --no-recursion -c -T "$list" 2>/dev/null | docker import - "$IMAGE" >&2
    rm -f "$list"
    docker run --rm --network none "$IMAGE" python3 -c 'import json, ctypes, asyncio, sqlite3, decimal' >/dev/null 2>&1 && return
    docker image rm "$IMAGE" >/dev/null
    return 1
}

from_debootstrap() {
    command -v debootstrap >/dev/null || install debootstrap
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    # shellcheck disable=SC1091
    suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}")
    mirror=$(sed -nE 's/^deb (\[[^]]*\] )?(https?:[^ ]+).*/\2/p; s/^URIs: *([^ ]+).*/\1/p' \
        /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | grep -v security | head -n 1 || true)
    say "debootstrap of $suite with python3"
    debootstrap --variant=minbase --include=python3,tzdata,gcc,libc6-dev "$suite" "$folder" ${mirror:+"$mirror"} >"$LOG.debootstrap" 2>&1 ||
        { tail -n 5 "$LOG.debootstrap" >&2; exit 1; }
    tar -C "$folder" --exclude=./var/cache/apt --exclude=./var/lib/apt/lists -c . | docker import - "$IMAGE" >&2
}

make_base() {
    docker image inspect "$IMAGE" >/dev/null 2>&1 && return
    from_this_machine || from_debootstrap
}

reachable || start_engine
make_base
say "ready: $(docker version --format '{{.Server.Version}}'), base image $IMAGE"
