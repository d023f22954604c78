// agents INTERFACES
//
// An SNMP v1/v2c agent (community "public") at every address that is local: it answers on port 161 from the address it
// was asked at. Each address is a switch of its own: system group, ifTable (22 columns), ifXTable (19), ipAddrTable,
// entPhysicalTable (chassis and power supply), all in one sorted list of ready-made varbinds; only names, hardware and IP addresses and
// serial numbers are written in per request. On SIGUSR1 port 1 of every address that ends with .7 goes down, or up again
// (ifOperStatus). Answers are kept within 1,400 octets, as small switches do.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { BATCH = 64, DATAGRAM = 1500, CARRIES = 1400, ARCS = 24, ASKED = 64 };
typedef uint8_t octet;

static volatile sig_atomic_t stop;
static void on_signal(int number) { (void)number; stop = 1; }
static volatile sig_atomic_t unplugged;
static void on_pull(int number) { (void)number; unplugged = !unplugged; }
static uint64_t now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

// ── what an agent has ──────────────────────────────────────────────────────────────────────────────────────────────

typedef struct { int length; uint32_t arc[ARCS]; } oid;
enum patch { NOTHING, HEX_IN_VALUE, OCTETS_IN_VALUE, ADDRESS_IN_INDEX, CABLE_IN_VALUE, UPTIME_IN_VALUE };
typedef struct { oid name; octet *varbind; int size, value; enum patch patch; int at; } object;

// The octets of an address in an index take one or two each in BER: the list is made for the shape of one address.
typedef struct { octet shape; int count, capacity; object *objects; octet *uptime; } agent;
static int interfaces;

static octet *head(octet *to, octet tag, int length) {
  *to++ = tag;
  if (length >= 256) { *to++ = 0x82; *to++ = (octet)(length >> 8); }
  else if (length >= 128) *to++ = 0x81;
  *to++ = (octet)length;
  return to;
}
static octet *arc(octet *to, uint32_t value) {
  for (int shift = 28; shift > 0; shift -= 7) if (value >> shift) *to++ = (octet)(0x80 | (value >> shift & 0x7f));
  *to++ = value & 0x7f;
  return to;
}
static int encode(octet *to, const oid *name) {
  octet *end = to;
  *end++ = (octet)(name->arc[0] * 40 + name->arc[1]);
  for (int i = 2; i < name->length; i++) end = arc(end, name->arc[i]);
  return (int)(end - to);
}
static int compare(const oid *a, const oid *b) {
  for (int i = 0; i < a->length && i < b->length; i++)
    if (a->arc[i] != b->arc[i]) return a->arc[i] < b->arc[i] ? -1 : 1;
  return a->length - b->length;
}
static int by_name(const void *a, const void *b) { return compare(&((const object *)a)->name, &((const object *)b)->name); }

static void put(agent *to, const oid *name, octet tag, const void *value, int length, enum patch patch, int at) {
  octet text[128];
  int named = encode(text, name), inner = 2 + named + 2 + length; // names and values here are shorter than 128
  object *one;
  if (to->count == to->capacity)
    to->objects = realloc(to->objects, sizeof *to->objects * (size_t)(to->capacity = to->capacity * 2 + 64));
  one = &to->objects[to->count++];
  one->name = *name;
  one->varbind = malloc((size_t)inner + 4);
  octet *end = head(one->varbind, 0x30, inner);
  end = head(end, 6, named);
  memcpy(end, text, (size_t)named);
  end = head(end + named, tag, length);
  one->value = (int)(end - one->varbind);
  memcpy(end, value, (size_t)length);
  one->size = one->value + length;
  one->patch = patch;
  if (patch == UPTIME_IN_VALUE) to->uptime = one->varbind + one->value;
  one->at = patch == ADDRESS_IN_INDEX ? one->value - 2 : at; // an index ends where the head of the value begins
}
static oid under(const uint32_t *table, int length, uint32_t column, uint32_t index) {
  oid name = {length + 2, {0}};
  memcpy(name.arc, table, (size_t)length * sizeof *table);
  name.arc[length] = column;
  name.arc[length + 1] = index;
  return name;
}
static void number(agent *to, oid name, octet tag, uint64_t value) {
  octet octets[9];
  int length = 0;
  for (int shift = 56; shift >= 0; shift -= 8) {
    octet next = (octet)(value >> shift);
    if (length == 0 && next & 0x80) octets[length++] = 0;
    if (length > 0 || next != 0 || shift == 0) octets[length++] = next;
  }
  put(to, &name, tag, octets, length, NOTHING, 0);
}
// A # stands for the address, as eight hexadecimal digits.
static void text(agent *to, oid name, const char *format, uint32_t index) {
  char value[100];
  int length = snprintf(value, sizeof value, format, index);
  char *mark = memchr(value, '#', (size_t)length);
  if (mark) { memmove(mark + 8, mark + 1, (size_t)(value + length - mark - 1)); length += 7; }
  put(to, &name, 4, value, length, mark ? HEX_IN_VALUE : NOTHING, mark ? (int)(mark - value) : 0);
}
static const uint32_t SYSTEM[] = {1, 3, 6, 1, 2, 1, 1}, INTERFACES[] = {1, 3, 6, 1, 2, 1, 2},
                      IF_ENTRY[] = {1, 3, 6, 1, 2, 1, 2, 2, 1}, IFX_ENTRY[] = {1, 3, 6, 1, 2, 1, 31, 1, 1, 1},
                      ENTITY[] = {1, 3, 6, 1, 2, 1, 47, 1, 1, 1, 1};
#define AT(table, column, index) under(table, (int)(sizeof table / sizeof *table), column, index)

static void object_id(agent *to, oid name, const oid *value) {
  octet octets[64];
  put(to, &name, 6, octets, encode(octets, value), NOTHING, 0);
}
static void build(agent *to, uint32_t address) {
  static const oid nothing = {2, {0, 0}}, model = {10, {1, 3, 6, 1, 4, 1, 9, 1, 1745, 0}}, type = {11, {1, 3, 6, 1, 4, 1, 9, 12, 3, 1, 3}};
  text(to, AT(SYSTEM, 1, 0), "Bench switch, 48 ports, software 17.3.4a, build 5", 0);
  object_id(to, AT(SYSTEM, 2, 0), &model);
  oid uptime = AT(SYSTEM, 3, 0);
  put(to, &uptime, 0x43, (octet[]){0, 0, 0, 0}, 4, UPTIME_IN_VALUE, 0);
  text(to, AT(SYSTEM, 4, 0), "noc@example.net", 0);
  text(to, AT(SYSTEM, 5, 0), "sw-#.bench.invalid", 0);
  text(to, AT(SYSTEM, 6, 0), "Rack 12, room 3, building A", 0);
  number(to, AT(SYSTEM, 7, 0), 2, 6);
  number(to, AT(INTERFACES, 1, 0), 2, (uint64_t)interfaces);
  for (uint32_t i = 1; i <= (uint32_t)interfaces; i++) {
    octet mac[6] = {2, 0, 0, 0, 0, (octet)i};
    oid name = AT(IF_ENTRY, 6, i);
    for (uint32_t column = 1; column <= 22; column++) {
      oid cell = AT(IF_ENTRY, column, i);
      if (column == 2) text(to, cell, "GigabitEthernet1/0/%u", i);
      else if (column == 6) put(to, &name, 4, mac, 6, OCTETS_IN_VALUE, 1);
      else if (column == 22) object_id(to, cell, &nothing);
      else if (column == 5) number(to, cell, 0x42, 1000000000);
      else if (column == 8 && i == 1) put(to, &cell, 2, (octet[]){1}, 1, CABLE_IN_VALUE, 0);
      else if (column == 9) number(to, cell, 0x43, 4242);
      else if (column == 21) number(to, cell, 0x42, 0);
      else if (column >= 10) number(to, cell, 0x41, i * 1000003ull * column & 0x7fffffff);
      else number(to, cell, 2, column == 1 ? i : column == 3 ? 6 : column == 4 ? 1500 : 1);
    }
    for (uint32_t column = 1; column <= 19; column++) {
      oid cell = AT(IFX_ENTRY, column, i);
      if (column == 1) text(to, cell, "Gi1/0/%u", i);
      else if (column == 18) text(to, cell, "uplink to floor %u", i % 9);
      else if (column >= 6 && column <= 13) number(to, cell, 0x46, i * 1000003ull * i * column);
      else if (column == 15) number(to, cell, 0x42, 1000);
      else if (column == 19) number(to, cell, 0x43, 0);
      else if (column >= 14) number(to, cell, 2, 2);
      else number(to, cell, 0x41, i * 1000003ull & 0x7fffffff);
    }
  }
  for (uint32_t column = 1; column <= 5; column++) {
    oid cell = {14, {1, 3, 6, 1, 2, 1, 4, 20, 1, column, address >> 24, address >> 16 & 255, address >> 8 & 255, address & 255}};
    static const octet mask[] = {255, 255, 255, 0}, reassemble[] = {0, 255, 255};
    static const octet one[] = {1};
    if (column == 1) put(to, &cell, 0x40, mask, 4, ADDRESS_IN_INDEX, 0);
    else if (column == 3) put(to, &cell, 0x40, mask, 4, ADDRESS_IN_INDEX, 0);
    else if (column == 5) put(to, &cell, 2, reassemble, 3, ADDRESS_IN_INDEX, 0);
    else put(to, &cell, 2, one, 1, ADDRESS_IN_INDEX, 0);
  }
  for (uint32_t i = 1; i <= 2; i++) {
    for (uint32_t column = 2; column <= 16; column++) {
      oid cell = AT(ENTITY, column, i);
      if (column == 2) text(to, cell, i == 1 ? "Bench switch chassis" : "Power supply %u", i);
      else if (column == 3) object_id(to, cell, i == 1 ? &type : &nothing);
      else if (column == 4) number(to, cell, 2, i - 1);
      else if (column == 5) number(to, cell, 2, i == 1 ? 3 : 6);
      else if (column == 6) number(to, cell, 2, 1);
      else if (column == 11) text(to, cell, i == 1 ? "BENCH#" : "PSU#", 0);
      else if (column == 13) text(to, cell, i == 1 ? "BENCH-48T" : "BENCH-PSU", 0);
      else if (column == 16) number(to, cell, 2, 1);
      else text(to, cell, column == 7 ? "unit %u" : "", i);
    }
  }
  qsort(to->objects, (size_t)to->count, sizeof *to->objects, by_name);
}

static octet shape_of(uint32_t address) {
  octet shape = 0;
  for (int i = 0; i < 4; i++) shape = (octet)(shape << 1 | (address >> (24 - 8 * i) >> 7 & 1));
  return shape;
}
static agent shapes[16];
static uint32_t dressed[16];
static int plugs[16];

// The agent at an address: the list of its shape, with the address written in.
static agent *agent_at(uint32_t address) {
  octet shape = shape_of(address);
  agent *a = &shapes[shape];
  if (a->count == 0) build(a, address);
  // A clock that stood still would look like a reboot.
  uint32_t ticks = 123456789 + (uint32_t)(now_us() / 10000);
  for (int i = 0; i < 4; i++) a->uptime[i] = (octet)(ticks >> (24 - 8 * i));
  if (dressed[shape] == address && plugs[shape] == unplugged) return a;
  dressed[shape] = address;
  plugs[shape] = unplugged;
  octet octets[] = {(octet)(address >> 24), (octet)(address >> 16), (octet)(address >> 8), (octet)address};
  char hex[9];
  snprintf(hex, sizeof hex, "%08x", address);
  for (int i = 0; i < a->count; i++) {
    object *one = &a->objects[i];
    if (one->patch == HEX_IN_VALUE) memcpy(one->varbind + one->value + one->at, hex, 8);
    else if (one->patch == CABLE_IN_VALUE) one->varbind[one->value] = unplugged && octets[3] == 7 ? 2 : 1;
    else if (one->patch == OCTETS_IN_VALUE) memcpy(one->varbind + one->value + one->at, octets, 4);
    else if (one->patch == ADDRESS_IN_INDEX) {
      octet index[8], *end = index;
      for (int k = 0; k < 4; k++) { end = arc(end, octets[k]); one->name.arc[10 + k] = octets[k]; }
      int size = (int)(end - index);
      memcpy(one->varbind + one->at - size, index, (size_t)size);
      if (one->name.arc[9] == 1) memcpy(one->varbind + one->value, octets, 4);
    }
  }
  return a;
}

// First object after `name` (or at it, where `exact`), or count.
static int find(const agent *a, const oid *name, int exact) {
  int from = 0, to = a->count;
  while (from < to) {
    int middle = (from + to) / 2, order = compare(&a->objects[middle].name, name);
    if (order < 0 || (order == 0 && !exact)) from = middle + 1;
    else to = middle;
  }
  return from;
}

// ── requests ───────────────────────────────────────────────────────────────────────────────────────────────────────

typedef struct { const octet *at, *end; } input;
static int enter(input *in, octet tag, input *inner) {
  if (in->end - in->at < 2 || in->at[0] != tag) return 0;
  int length = in->at[1];
  in->at += 2;
  if (length & 0x80) {
    int octets = length & 0x7f;
    if (octets > 2 || in->end - in->at < octets) return 0;
    for (length = 0; octets > 0; octets--) length = length << 8 | *in->at++;
  }
  if (in->end - in->at < length) return 0;
  inner->at = in->at;
  inner->end = in->at += length;
  return 1;
}
static int integer(input *in, int64_t *value) {
  input body;
  if (!enter(in, 2, &body) || body.at == body.end) return 0;
  for (*value = (int8_t)*body.at++; body.at < body.end;) *value = *value * 256 + *body.at++;
  return 1;
}
static int read_oid(input in, oid *name) {
  if (in.at == in.end) return 0;
  name->arc[0] = *in.at / 40;
  name->arc[1] = *in.at++ % 40;
  for (name->length = 2; in.at < in.end;) {
    if (name->length == ARCS) return 0;
    uint32_t value = 0;
    do value = value << 7 | (*in.at & 0x7f); while (*in.at++ & 0x80 && in.at < in.end);
    name->arc[name->length++] = value;
  }
  return 1;
}

static octet *bind_missing(octet *to, const oid *name, octet tag) {
  octet text[128];
  int named = encode(text, name);
  to = head(to, 0x30, named + 4);
  to = head(to, 6, named);
  memcpy(to, text, (size_t)named);
  to += named;
  *to++ = tag;
  *to++ = 0;
  return to;
}

// The answer's length; 0 for silence.
static int answer(const octet *request, int length, octet *out, uint32_t address) {
  input in = {request, request + length}, message, community, pdu, list, varbind, name;
  int64_t version, id, first, second;
  static oid asked[ASKED];
  int count = 0;
  if (!enter(&in, 0x30, &message) || !integer(&message, &version) || version > 1 || !enter(&message, 4, &community) ||
      community.end - community.at != 6 || memcmp(community.at, "public", 6) != 0 || message.at == message.end)
    return 0;
  octet type = *message.at;
  if ((type != 0xa0 && type != 0xa1 && type != 0xa5) || !enter(&message, type, &pdu) || !integer(&pdu, &id) ||
      !integer(&pdu, &first) || !integer(&pdu, &second) || !enter(&pdu, 0x30, &list))
    return 0;
  for (; list.at < list.end && count < ASKED; count++)
    if (!enter(&list, 0x30, &varbind) || !enter(&varbind, 6, &name) || !read_oid(name, &asked[count])) return 0;

  const agent *a = agent_at(address);
  static octet body[4096];
  octet *end = body;
  int at[ASKED], repeat = type == 0xa5 ? (int)second : 1, full = 0;
  for (int i = 0; i < count; i++) at[i] = find(a, &asked[i], type == 0xa0);
  for (int row = 0; row < repeat && !full; row++) {
    int alive = 0;
    for (int i = 0; i < count; i++) {
      const object *one = at[i] < a->count ? &a->objects[at[i]] : NULL;
      if (type == 0xa0 && one && compare(&one->name, &asked[i]) != 0) one = NULL;
      if (end - body + (one ? one->size : 64) > CARRIES) { full = 1; break; }
      if (!one) { end = bind_missing(end, row == 0 ? &asked[i] : &a->objects[a->count - 1].name, type == 0xa0 ? 0x80 : 0x82); continue; }
      memcpy(end, one->varbind, (size_t)one->size);
      end += one->size;
      at[i] += 1;
      alive = 1;
    }
    if (!alive) break;
  }
  int size = (int)(end - body);
  octet control[] = {2, 4, (octet)(id >> 24), (octet)(id >> 16), (octet)(id >> 8), (octet)id, 2, 1, 0, 2, 1, 0};
  octet start[] = {2, 1, (octet)version, 4, 6, 'p', 'u', 'b', 'l', 'i', 'c'};
  octet lead[8];
  int led = (int)(head(lead, 0x30, size) - lead), inner = (int)sizeof control + led + size;
  octet open[8];
  int opened = (int)(head(open, 0xa2, inner) - open);
  octet *to = head(out, 0x30, (int)sizeof start + opened + inner);
  memcpy(to, start, sizeof start); to += sizeof start;
  memcpy(to, open, (size_t)opened); to += opened;
  memcpy(to, control, sizeof control); to += sizeof control;
  memcpy(to, lead, (size_t)led); to += led;
  memcpy(to, body, (size_t)size);
  return (int)(to - out) + size;
}

// ── the socket ─────────────────────────────────────────────────────────────────────────────────────────────────────


static octet received[BATCH][DATAGRAM], sent[BATCH][DATAGRAM + 256];
static char control_in[BATCH][64], control_out[BATCH][CMSG_SPACE(sizeof(struct in_pktinfo))];
static struct sockaddr_in peers[BATCH], askers[BATCH];
static struct iovec in_parts[BATCH], out_parts[BATCH];
static struct mmsghdr in_headers[BATCH], out_headers[BATCH];

static void address_to(int i, octet *bytes, int length, struct sockaddr_in to, struct in_addr from) {
  out_parts[i] = (struct iovec){bytes, (size_t)length};
  askers[i] = to;
  memset(control_out[i], 0, sizeof control_out[i]);
  struct cmsghdr *c = (struct cmsghdr *)control_out[i];
  c->cmsg_level = IPPROTO_IP;
  c->cmsg_type = IP_PKTINFO;
  c->cmsg_len = CMSG_LEN(sizeof(struct in_pktinfo));
  ((struct in_pktinfo *)CMSG_DATA(c))->ipi_spec_dst = from;
  out_headers[i].msg_hdr = (struct msghdr){.msg_name = &askers[i], .msg_namelen = sizeof askers[i], .msg_iov = &out_parts[i],
    .msg_iovlen = 1, .msg_control = control_out[i], .msg_controllen = sizeof control_out[i]};
}
static void send_out(int udp, int count) {
  for (int done = 0; done < count;) {
    int n = sendmmsg(udp, out_headers + done, (unsigned)(count - done), 0);
    if (n > 0) done += n;
    else if (errno == EAGAIN || errno == ENOBUFS) poll(&(struct pollfd){udp, POLLOUT, 0}, 1, 10);
    else done += 1;
  }
}

int main(int argc, char **argv) {
  interfaces = argc > 1 ? atoi(argv[1]) : 24;
  int udp = socket(AF_INET, SOCK_DGRAM, 0), on = 1, room = 64 << 20;
  setsockopt(udp, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
  setsockopt(udp, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room);
  setsockopt(udp, IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
  struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(161)};
  if (bind(udp, (struct sockaddr *)&any, sizeof any) != 0) { perror("bind"); return 1; }
  signal(SIGTERM, on_signal);
  signal(SIGINT, on_signal);
  signal(SIGUSR1, on_pull);
  while (!stop) {
    struct pollfd ready = {udp, POLLIN, 0};
    if (ppoll(&ready, 1, NULL, NULL) < 0 && errno != EINTR) break;
    for (int i = 0; i < BATCH; i++) {
      in_parts[i] = (struct iovec){received[i], DATAGRAM};
      in_headers[i].msg_hdr = (struct msghdr){.msg_name = &peers[i], .msg_namelen = sizeof peers[i], .msg_iov = &in_parts[i],
        .msg_iovlen = 1, .msg_control = control_in[i], .msg_controllen = sizeof control_in[i]};
    }
    int count = ready.revents & POLLIN ? recvmmsg(udp, in_headers, BATCH, MSG_DONTWAIT, NULL) : 0, out = 0;
    for (int i = 0; i < count; i++) {
      struct in_addr at = {0};
      for (struct cmsghdr *c = CMSG_FIRSTHDR(&in_headers[i].msg_hdr); c; c = CMSG_NXTHDR(&in_headers[i].msg_hdr, c))
        if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) at = ((struct in_pktinfo *)CMSG_DATA(c))->ipi_addr;
      int length = answer(received[i], (int)in_headers[i].msg_len, sent[out], ntohl(at.s_addr));
      if (length == 0) continue;
      address_to(out, sent[out], length, peers[i], at);
      out += 1;
    }
    if (out > 0) send_out(udp, out);
  }
}
