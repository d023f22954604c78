// echo-sweep NETWORK/LENGTH TRIES TIMEOUT_MS
//
// What the machine can do at best: an ICMP echo sweep over one datagram socket in batches of sendmmsg and recvmmsg,
// with nothing around it. The comparison for ours; prints the addresses that answered, and on standard error
// "sweep SECONDS sent N". No check of the answers beyond source and sequence, no pacing, no order.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 64, REQUEST = 24, ANSWER = 128 };

static int fd;
static uint32_t base, size, found;
static uint8_t *answered;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static int receive(void) {
  static uint8_t bytes[BATCH][ANSWER];
  static struct sockaddr_in from[BATCH];
  static struct iovec io[BATCH];
  static struct mmsghdr message[BATCH];
  for (int i = 0; i < BATCH; i++) {
    io[i] = (struct iovec){bytes[i], ANSWER};
    message[i].msg_hdr = (struct msghdr){.msg_name = &from[i], .msg_namelen = sizeof from[i], .msg_iov = &io[i], .msg_iovlen = 1};
  }
  int count = recvmmsg(fd, message, BATCH, MSG_DONTWAIT, NULL);
  for (int i = 0; i < count; i++) {
    uint32_t index = ntohl(from[i].sin_addr.s_addr) - base;
    uint16_t sequence = bytes[i][6] << 8 | bytes[i][7];
    if (index >= size || bytes[i][0] != 0 || sequence != (index & 0xffff) || answered[index]) continue;
    answered[index] = 1;
    found++;
  }
  return count;
}

int main(int count, char **argument) {
  if (count != 4) { fprintf(stderr, "echo-sweep NETWORK/LENGTH TRIES TIMEOUT_MS\n"); return 2; }
  char network[32];
  int length, tries = atoi(argument[2]), buffer = 4 << 20;
  if (sscanf(argument[1], "%31[^/]/%d", network, &length) != 2) return 2;
  double timeout = atoi(argument[3]) / 1e3;
  base = ntohl(inet_addr(network));
  size = 1u << (32 - length);
  answered = calloc(size, 1);
  fd = socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP);
  if (fd < 0) { perror("echo-sweep: socket (net.ipv4.ping_group_range?)"); return 1; }
  if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer))
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);

  static uint8_t bytes[BATCH][REQUEST];
  static struct sockaddr_in to[BATCH];
  static struct iovec io[BATCH];
  static struct mmsghdr message[BATCH];
  unsigned long sent = 0;
  double start = now();
  for (int attempt = 0; attempt < tries && found < size; attempt++) {
    for (uint32_t index = 0; index < size;) {
      int filled = 0;
      for (; filled < BATCH && index < size; index++) {
        if (answered[index]) continue;
        bytes[filled][0] = 8; bytes[filled][6] = index >> 8; bytes[filled][7] = index;
        to[filled] = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(base + index)};
        io[filled] = (struct iovec){bytes[filled], REQUEST};
        message[filled].msg_hdr = (struct msghdr){.msg_name = &to[filled], .msg_namelen = sizeof to[filled], .msg_iov = &io[filled], .msg_iovlen = 1};
        filled++;
      }
      for (int done = 0; done < filled;) {
        int n = sendmmsg(fd, message + done, filled - done, 0);
        if (n > 0) { done += n; sent += n; }
        else if (errno == EAGAIN || errno == ENOBUFS) { struct pollfd wait = {fd, POLLOUT, 0}; poll(&wait, 1, 5); }
        else done++;
      }
      while (receive() == BATCH) {}
    }
    for (double end = now() + timeout, rest; found < size && (rest = end - now()) > 0;) {
      struct pollfd wait = {fd, POLLIN, 0};
      if (poll(&wait, 1, rest * 1e3 + 1) > 0) while (receive() > 0) {}
    }
  }
  fprintf(stderr, "sweep %.3f sent %lu\n", now() - start, sent);
  for (uint32_t index = 0; index < size; index++) if (answered[index]) {
    struct in_addr address = {htonl(base + index)};
    puts(inet_ntoa(address));
  }
}
