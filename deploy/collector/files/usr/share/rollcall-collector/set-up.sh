#!/bin/sh
# Makes what the service needs and starts it where it has joined a server; every step may find its work done already.
# Called by the package, and by hand after the tar archive was unpacked. Argument: the version that was there before.
set -e
before=${1:-}
systemd-sysusers /usr/lib/sysusers.d/rollcall-collector.conf
install -d -m 0755 /etc/rollcall
# Of another version it is of no use.
rm -rf /var/cache/rollcall-collector
install -d -m 0755 /var/cache/rollcall-collector
install -d -m 0700 -o rollcall-collector -g rollcall-collector /var/lib/rollcall-collector
[ -e /etc/rollcall/collector.yaml ] ||
    install -m 0644 /usr/share/rollcall-collector/collector.yaml /etc/rollcall/collector.yaml
joined=/var/lib/rollcall-collector/identity.json
[ -n "$before" ] || ! command -v systemctl >/dev/null || systemctl -q enable rollcall-collector.service || true
if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    # After a removal dpkg names the version before too: what counts is whether it is to run.
    if [ -e "$joined" ] && systemctl -q is-enabled rollcall-collector.service; then
        systemctl restart rollcall-collector.service || true
    else
        systemctl try-restart rollcall-collector.service || true
    fi
fi
[ -e "$joined" ] || echo 'rollcall-collector: now join a server: rollcall-collector join URL TOKEN'
