// far TUN DELAY_MS JITTER_MS LOSS_PER_MILLE
//
// Stands in for a network with a round-trip time, which a veth has not: answers every ICMP echo request that the kernel
// routes to the tun device, DELAY to DELAY + JITTER later, and loses LOSS of a thousand. Answers wait in a ring of time
// slots, so their number costs nothing.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { PACKET = 160, SLOT_US = 100, SLOTS = 1 << 15, POOL = 1 << 18 };

typedef struct packet {
  struct packet *next;
  uint16_t length;
  uint8_t bytes[PACKET];
} packet;

static packet pool[POOL], *unused;
static struct { packet *first, **end; } ring[SLOTS];
static volatile sig_atomic_t stop;

static void on_signal(int number) { (void)number; stop = 1; }

static uint64_t now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static uint32_t random32(void) { // xorshift, Marsaglia 2003
  static uint32_t x = 2463534242u;
  x ^= x << 13; x ^= x >> 17; x ^= x << 5;
  return x;
}

// Turns a request into its answer in place: swaps the addresses, clears the type, mends the checksum (RFC 1624).
static int turn(uint8_t *ip, int length) {
  int header = (ip[0] & 15) * 4;
  if (ip[0] >> 4 != 4 || ip[9] != 1 || length < header + 8 || ip[header] != 8) return 0;
  uint8_t address[4];
  memcpy(address, ip + 12, 4); memcpy(ip + 12, ip + 16, 4); memcpy(ip + 16, address, 4);
  ip[header] = 0;
  uint32_t sum = (ip[header + 2] << 8 | ip[header + 3]) + 0x0800;
  sum = (sum & 0xffff) + (sum >> 16);
  ip[header + 2] = sum >> 8; ip[header + 3] = sum;
  return 1;
}

int main(int count, char **argument) {
  if (count != 5) { fprintf(stderr, "far TUN DELAY_MS JITTER_MS LOSS_PER_MILLE\n"); return 2; }
  uint64_t delay = strtoull(argument[2], NULL, 10) * 1000, jitter = strtoull(argument[3], NULL, 10) * 1000;
  uint32_t loss = atoi(argument[4]);
  if (delay + jitter >= (uint64_t)SLOTS * SLOT_US) { fprintf(stderr, "far: delay too long\n"); return 2; }
  int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
  struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
  strncpy(request.ifr_name, argument[1], IFNAMSIZ - 1);
  if (fd < 0 || ioctl(fd, TUNSETIFF, &request)) { perror("far: tun"); return 1; }
  signal(SIGTERM, on_signal); signal(SIGINT, on_signal);
  for (int i = 0; i < POOL; i++) { pool[i].next = unused; unused = &pool[i]; }
  for (int i = 0; i < SLOTS; i++) ring[i].end = &ring[i].first;

  uint64_t done = now_us() / SLOT_US, asked = 0, answered = 0, lost = 0, full = 0, waiting = 0;
  while (!stop) {
    uint64_t slot = now_us() / SLOT_US;
    for (; done <= slot; done++) {
      int i = done % SLOTS;
      while (ring[i].first) {
        packet *p = ring[i].first;
        if (write(fd, p->bytes, p->length) < 0 && errno == EAGAIN) goto busy;
        ring[i].first = p->next;
        if (!p->next) ring[i].end = &ring[i].first;
        p->next = unused; unused = p;
        answered++; waiting--;
      }
    }
  busy:;
    int taken = 0;
    for (; taken < 256 && unused; taken++) {
      packet *p = unused;
      int length = read(fd, p->bytes, PACKET);
      if (length <= 0) break;
      if (!turn(p->bytes, length)) continue;
      asked++;
      if (random32() % 1000 < loss) { lost++; continue; }
      unused = p->next;
      p->length = length; p->next = NULL;
      uint64_t due = (now_us() + delay + (jitter ? random32() % jitter : 0)) / SLOT_US;
      int i = (due < done ? done : due) % SLOTS;
      *ring[i].end = p; ring[i].end = &p->next;
      waiting++;
    }
    if (!unused) full++;
    if (taken) continue;
    struct pollfd wait = {fd, POLLIN, 0};
    struct timespec tick = {0, SLOT_US * 1000};
    ppoll(&wait, 1, waiting ? &tick : NULL, NULL);
  }
  fprintf(stderr, "asked %lu answered %lu lost %lu full %lu\n", asked, answered, lost, full);
}
