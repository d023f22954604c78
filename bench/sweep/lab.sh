#!/usr/bin/env bash
# The benchmarks' own network: two namespaces joined by one veth, no way out of either. Needs root and iproute2.
#
#   rollcall-scan 198.19.255.1/30 ──veth── 198.19.255.2/30 rollcall-site
#
# The site answers for 198.18.0.0/16 (ICMP), owns 198.19.0.0/20 (for agents) and, where a million addresses are wanted,
# 10.0.0.0/12, without configuring an address: AnyIP routes make whole ranges local.
#
#   lab.sh up | down | status
#   lab.sh answer all|sparse|none|FILE which of 198.18.0.0/16: all 65,536; the 4,096 of $LAB_DIR/live.txt; none; those listed
#   lab.sh own all|FILE                the same for 198.19.0.0/20
#   lab.sh agents INTERFACES | agents off
#                                      agents.c: an SNMP agent at every address the site owns
#   lab.sh snmpd INTERFACES | snmpd off
#                                      net-snmp's snmpd at every address, with so many interfaces more
#   lab.sh exec CMD...                 runs CMD in rollcall-scan
#   lab.sh site CMD...                 runs CMD in rollcall-site
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
LAB_DIR=${LAB_DIR:-${TMPDIR:-/tmp}/rollcall-lab}
SCAN=${LAB_SCAN:-rollcall-scan}
SITE=${LAB_SITE:-rollcall-site}
NET=198.18.0.0/16
AGENTS=198.19.0.0/20
PATH=$PATH:/usr/sbin:/sbin

in_scan() { ip netns exec "$SCAN" "$@"; }
in_site() { ip netns exec "$SITE" "$@"; }

# One address in each block of 16, the same every time: minimal standard generator (Park, Miller 1988).
live_list() {
  awk 'BEGIN { x = 20261121
    for (block = 0; block < 4096; block++) {
      x = (x * 16807) % 2147483647
      host = block * 16 + 1 + int(x / 8) % 14
      printf "198.18.%d.%d\n", int(host / 256), host % 256 } }'
}

# Ends the program that was started as NAME, and waits until it has.
end_program() {
  local pid
  [ -f "$LAB_DIR/$1.pid" ] || return 0
  pid=$(cat "$LAB_DIR/$1.pid")
  kill "$pid" 2>/dev/null || true
  for _ in $(seq 50); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
  rm -f "$LAB_DIR/$1.pid"
}

# Neither namespace may reach anything but the other.
guard() {
  local ns
  for ns in "$SCAN" "$SITE"; do
    if ip -n "$ns" route show table all | grep -Eq '^default'; then echo "lab: $ns has a default route" >&2; exit 1; fi
    if ip -n "$ns" -o link | grep -Ev ': (lo|scan0|site0|port[0-9]+)[:@]'; then
      echo "lab: $ns has an interface that is not the lab's" >&2; exit 1; fi
  done
}

up() {
  mkdir -p "$LAB_DIR"
  ip netns add "$SCAN"
  ip netns add "$SITE"
  ip -n "$SCAN" link add scan0 type veth peer name site0 netns "$SITE"
  local ns
  for ns in "$SCAN" "$SITE"; do
    ip netns exec "$ns" sh -c '
      cd /proc/sys/net
      echo 1 > ipv6/conf/all/disable_ipv6
      echo 0 > ipv4/conf/all/rp_filter
      echo 0 > ipv4/conf/default/rp_filter
      echo 0 > ipv4/icmp_ratelimit
      echo 10000000 > ipv4/icmp_msgs_per_sec
      echo 100000 > ipv4/icmp_msgs_burst
      echo "0 2147483647" > ipv4/ping_group_range'
    ip -n "$ns" link set lo up
  done
  ip -n "$SCAN" addr add 198.19.255.1/30 dev scan0
  ip -n "$SITE" addr add 198.19.255.2/30 dev site0
  ip -n "$SCAN" link set scan0 up
  ip -n "$SITE" link set site0 up
  # Routed, so that one neighbour is resolved in all.
  ip -n "$SCAN" route add $NET via 198.19.255.2
  local owned
  for owned in $AGENTS 10.0.0.0/12; do
    ip -n "$SCAN" route add "$owned" via 198.19.255.2
    ip -n "$SITE" route add local "$owned" dev lo
  done
  live_list > "$LAB_DIR/live.txt"
  answer all
  guard
  ip -n "$SITE" -o link show site0 | grep -o 'link/ether [0-9a-f:]*' | cut -d' ' -f2 > "$LAB_DIR/gateway-mac"
}

down() {
  end_program agents
  end_program snmpd
  ip netns del "$SCAN" 2>/dev/null || true
  ip netns del "$SITE" 2>/dev/null || true
}

# Leaves a block without any route in the site.
clear_routes() {
  ip -n "$SITE" route flush table local root "$1"
  ip -n "$SITE" route flush root "$1"
}

# Who lives in a block: all, none, or those listed in a file; the rest is silent.
populate() {
  clear_routes "$1"
  case $2 in
    all) ip -n "$SITE" route add local "$1" dev lo ;;
    none) ip -n "$SITE" route add blackhole "$1" ;;
    *)
      ip -n "$SITE" route add blackhole "$1"
      sed 's/^/route add local /; s/$/ dev lo/' "$2" | ip -n "$SITE" -batch - ;;
  esac
}

answer() {
  if [ "$1" = sparse ]; then populate $NET "$LAB_DIR/live.txt"; else populate $NET "$1"; fi
}

# Starts a program in the site in the background, known by its name.
start_program() {
  local name=$1
  shift
  end_program "$name"
  ip netns exec "$SITE" "$@" > "$LAB_DIR/$name.log" 2>&1 &
  echo $! > "$LAB_DIR/$name.pid"
  sleep 0.5
  kill -0 "$(cat "$LAB_DIR/$name.pid")" || { cat "$LAB_DIR/$name.log" >&2; exit 1; }
}

agents() {
  end_program agents
  [ "$1" = off ] && return
  [ "$LAB_DIR/agents" -nt "$here/agents.c" ] || cc -O2 -o "$LAB_DIR/agents" "$here/agents.c"
  start_program agents "$LAB_DIR/agents" "$1"
}

snmpd() {
  local have port
  end_program snmpd
  [ "$1" = off ] && return
  have=$(ip -n "$SITE" -o link | grep -c ': port' || true)
  for port in $(seq $((have + 1)) "$1"); do echo "link add port$port type bridge"; done | ip -n "$SITE" -batch -
  printf '%s\n' 'agentaddress udp:0.0.0.0:161' 'rocommunity public' 'sysName bench' > "$LAB_DIR/snmpd.conf"
  mkdir -p "$LAB_DIR/snmpd.state"
  SNMP_PERSISTENT_DIR="$LAB_DIR/snmpd.state" MIBS='' \
    start_program snmpd snmpd -f -C -c "$LAB_DIR/snmpd.conf" -Lf "$LAB_DIR/snmpd.out" -I -smux
  sleep 1
}

case ${1:-} in
  up) up ;;
  down) down ;;
  status) guard; ip -n "$SCAN" -br addr; ip -n "$SITE" -br addr; ip -n "$SITE" route ;;
  answer) answer "${2:-}" ;;
  own) populate $AGENTS "${2:-}" ;;
  agents) agents "${2:-}" ;;
  snmpd) snmpd "${2:-}" ;;
  exec) shift; in_scan "$@" ;;
  site) shift; in_site "$@" ;;
  *) sed -n '2,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//'; exit 2 ;;
esac
