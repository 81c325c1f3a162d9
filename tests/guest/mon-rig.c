// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/guest/mon-rig.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>

#include "lib/arp.h"
#include "lib/err.h"

#define RIG_ANSWER_MS 60000 /* a boot included, on a machine that has other work */

#define RIG_LATE_MAX 8192u

static const uint8_t rig_mac[RIG_WIRES][6] = {{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}};

static void rig_die(const char *what)
{
	fprintf(stderr, "mon-rig: %s: %s\n", what, strerror(errno));
	exit(3);
}

static uint64_t rig_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* --- the guest -------------------------------------------------------------------------------- */

static void rig_exec(const char *kernel_dir, const char *initramfs, const char *console,
		     const int far[3])
{
	char kernel[512], serial[512], net[2][128], chardev[64];

	snprintf(kernel, sizeof(kernel), "%s/vmlinuz", kernel_dir);
	snprintf(serial, sizeof(serial), "file:%s", console);
	for (int i = 0; i < 2; i++)
		snprintf(net[i], sizeof(net[i]), "dgram,id=n%d,local.type=fd,local.str=%d", i,
			 far[i]);
	snprintf(chardev, sizeof(chardev), "socket,id=c,fd=%d", far[2]);
	execlp("qemu-system-x86_64", "qemu-system-x86_64", "-accel", "tcg", "-M", "q35", "-cpu",
	       "max", "-m", "512", "-smp", "1", "-display", "none", "-nodefaults", "-no-reboot",
	       "-serial", serial, "-kernel", kernel, "-initrd", initramfs, "-append",
	       "console=ttyS0 mitigations=off panic=-1 quiet dststorm.test-hooks", "-netdev",
	       net[0], "-device",
	       "virtio-net-pci,netdev=n0,mac=02:00:00:00:00:01,romfile=", "-netdev", net[1],
	       "-device", "virtio-net-pci,netdev=n1,mac=02:00:00:00:00:02,romfile=", "-device",
	       "virtio-serial-pci", "-chardev", chardev, "-device",
	       "virtserialport,chardev=c,name=dststorm", (char *)NULL);
	rig_die("cannot run qemu-system-x86_64");
}

void rig_boot(struct rig *r, const char *kernel_dir, const char *initramfs, const char *console)
{
	int pair[3][2], far[3];

	memset(r, 0, sizeof(*r));
	for (int i = 0; i < 3; i++) {
		if (socketpair(AF_UNIX, i < 2 ? SOCK_DGRAM : SOCK_STREAM, 0, pair[i]))
			rig_die("socketpair");
		fcntl(pair[i][0], F_SETFD, FD_CLOEXEC);
		fcntl(pair[i][0], F_SETFL, O_NONBLOCK);
		far[i] = pair[i][1];
	}
	r->qemu = fork();
	if (r->qemu < 0)
		rig_die("fork");
	if (!r->qemu) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		rig_exec(kernel_dir, initramfs, console, far);
	}
	for (int i = 0; i < 3; i++)
		close(far[i]);
	r->wire[RIG_IN] = pair[0][0];
	r->wire[RIG_OUT] = pair[1][0];
	r->control = pair[2][0];
	r->answer[RIG_IN] = r->answer[RIG_OUT] = true;
	for (int w = 0; w < RIG_WIRES; w++) {
		r->late[w] = calloc(RIG_LATE_MAX, sizeof(*r->late[w]));
		if (!r->late[w])
			rig_die("memory");
	}
	if (wire_reader_init(&r->reader))
		rig_die("memory");
	signal(SIGPIPE, SIG_IGN);
}

void rig_leave_control(struct rig *r)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(r->control);
	r->control = -1;
	r->stalled[RIG_IN] = r->stalled[RIG_OUT] = true;
}

int rig_wait_end(struct rig *r, int ms)
{
	uint64_t end = rig_now_ms() + (uint64_t)ms;
	int status;

	while (r->qemu > 0) {
		if (waitpid(r->qemu, &status, WNOHANG) == r->qemu) {
			r->qemu = 0;
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		}
		if (rig_now_ms() > end)
			return -1;
		rig_pump(r, 20);
	}
	return -1;
}

void rig_kill(struct rig *r)
{
	if (r->qemu > 0) {
		kill(r->qemu, SIGKILL);
		waitpid(r->qemu, NULL, 0);
	}
	r->qemu = 0;
}

/* --- the wires -------------------------------------------------------------------------------- */

static uint16_t rig_be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t rig_be32(const uint8_t *p)
{
	return (uint32_t)rig_be16(p) << 16 | rig_be16(p + 2);
}

static void rig_put32(uint8_t *p, uint32_t v)
{
	v = htonl(v);
	memcpy(p, &v, sizeof(v));
}

static void rig_send_frame(struct rig *r, int w, const uint8_t *frame, size_t len)
{
	uint64_t end = rig_now_ms() + 5000;

	while (send(r->wire[w], frame, len, 0) < 0) {
		if (errno != EAGAIN && errno != ENOBUFS)
			return;
		if (rig_now_ms() > end) {
			errno = ETIMEDOUT;
			rig_die("the guest takes no frames");
		}
		rig_pump(r, 1);
	}
}

/* Answers go out in order; those for which there is no room wait. */
static void rig_answer(struct rig *r, int w, const uint8_t *reply, size_t len)
{
	struct rig_frame *f;

	r->replies++;
	if (!r->nr_late[w] && send(r->wire[w], reply, len, 0) > 0)
		return;
	if (r->nr_late[w] == RIG_LATE_MAX)
		rig_die("too many answers wait");
	f = &r->late[w][r->nr_late[w]++];
	memcpy(f->bytes, reply, len);
	f->len = (uint8_t)len;
}

static void rig_send_late(struct rig *r, int w)
{
	unsigned n = 0;

	while (n < r->nr_late[w] && send(r->wire[w], r->late[w][n].bytes, r->late[w][n].len, 0) > 0)
		n++;
	r->nr_late[w] -= n;
	memmove(r->late[w], r->late[w] + n, (size_t)r->nr_late[w] * sizeof(*r->late[w]));
}

static void rig_on_arp(struct rig *r, int w, const uint8_t *f)
{
	uint8_t reply[ARP_FRAME_LEN], mac[6];
	uint32_t target = rig_be32(f + 38);

	if (rig_be16(f + 20) != 1)
		return;
	r->arps[w]++;
	if (!r->answer[w] || target == r->dead)
		return;
	arp_mac_of(target, mac);
	if (arp_reply(f, reply, mac))
		rig_answer(r, w, reply, sizeof(reply));
}

static void rig_on_ipv6(struct rig *r, int w, const uint8_t *f, size_t len)
{
	uint8_t reply[FRAMES_LEN_MAX];
	struct in6_addr target;

	if (len < 55)
		return;
	r->udp_out += w == RIG_OUT && (f[20] == 17 || f[20] == 6 || (f[20] == 58 && f[54] == 128));
	r->icmp_in += w == RIG_IN && f[20] == 58 && f[54] < 128;
	if (frames_solicit(f, len, &target) && r->answer[w] &&
	    memcmp(&target, &r->dead6, sizeof(target)) != 0)
		rig_answer(r, w, reply, frames_advert(f, reply));
}

static void rig_on_frame(struct rig *r, int w, const uint8_t *f, size_t len)
{
	if (len >= 42 && rig_be16(f + 12) == 0x0806) {
		rig_on_arp(r, w, f);
	} else if (len >= 34 && rig_be16(f + 12) == 0x0800) {
		r->ipv4[w]++;
		r->udp_out += w == RIG_OUT && f[23] == 17;
		r->icmp_in += w == RIG_IN && f[23] == 1;
	} else if (rig_be16(f + 12) == 0x86dd) {
		rig_on_ipv6(r, w, f, len);
	}
}

static void rig_read_wire(struct rig *r, int w)
{
	uint8_t frame[2048];

	for (int i = 0; i < 64; i++) {
		ssize_t n = recv(r->wire[w], frame, sizeof(frame), MSG_DONTWAIT);

		if (n <= 0)
			return;
		rig_on_frame(r, w, frame, (size_t)n);
	}
}

void rig_send(struct rig *r, const struct rig_packet *p)
{
	uint8_t f[60] = {[12] = 0x08, [14] = 0x45, [17] = 46, [20] = 0x40, [22] = p->ttl};
	uint32_t sum = 0;

	memcpy(f, rig_mac[RIG_IN], 6);
	arp_mac_of(p->src, f + 6);
	rig_put32(f + 26, p->src);
	rig_put32(f + 30, p->dst);
	f[23] = p->echo ? 1 : 17;
	for (int i = 14; i < 34; i += 2)
		sum += rig_be16(f + i);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16)) & 0xffff;
	if (p->bad_checksum)
		sum ^= 0x0101;
	f[24] = (uint8_t)(sum >> 8);
	f[25] = (uint8_t)sum;
	if (p->echo) {
		f[34] = 8;
		f[36] = 0xf7; /* its checksum, with all else 0 */
		f[37] = 0xff;
	} else {
		f[35] = f[37] = 9; /* discard */
		f[39] = 26;
	}
	rig_send_frame(r, RIG_IN, f, sizeof(f));
}

void rig_send6(struct rig *r, const struct frames_probe6 *p)
{
	uint8_t f[FRAMES_LEN_MAX];

	rig_send_frame(r, RIG_IN, f, frames_probe6(f, p, rig_mac[RIG_IN]));
}

/* --- the control line ------------------------------------------------------------------------- */

json_int_t rig_int(const json_t *obj, const char *path)
{
	char key[64];
	size_t n;

	for (;; path += n + 1) {
		n = strcspn(path, ".");
		snprintf(key, sizeof(key), "%.*s", (int)n, path);
		obj = json_object_get(obj, key);
		if (!path[n])
			return json_is_integer(obj) ? json_integer_value(obj) : -1;
	}
}

static void rig_on_cost(struct rig *r, uint64_t ns)
{
	if (ns > r->cost_ns_max)
		r->cost_ns_max = ns;
	if (!r->cost_ns_min || ns < r->cost_ns_min)
		r->cost_ns_min = ns;
}

static void rig_on_event(struct rig *r, json_t *msg)
{
	const char *event = json_string_value(json_object_get(msg, "event"));

	if (!event)
		return;
	if (!strcmp(event, "alive")) {
		r->alives++;
		r->alive_forwarded = (uint64_t)rig_int(msg, "forwarded_pkts");
	} else if (!strcmp(event, "sample")) {
		uint64_t t_ns = (uint64_t)rig_int(msg, "t_ns");

		r->samples++;
		if (r->sample_ns && t_ns - r->sample_ns > r->gap_ns_max)
			r->gap_ns_max = t_ns - r->sample_ns;
		r->sample_ns = t_ns;
		rig_on_cost(r, (uint64_t)rig_int(msg, "cost_ns"));
	} else if (!strcmp(event, "overrun")) {
		json_decref(r->overrun);
		r->overrun = json_incref(msg);
	} else {
		fprintf(stderr, "mon-rig: event %s: %s\n", event,
			json_string_value(json_object_get(msg, "text")));
	}
}

/* Returns the answer to @id if it is among what came. */
static json_t *rig_messages(struct rig *r, json_int_t id)
{
	json_t *msg, *answer = NULL;
	struct err err;
	int ret;

	while (!answer && (ret = wire_next(&r->reader, &msg, &err))) {
		if (ret < 0) {
			fprintf(stderr, "mon-rig: %s\n", err.text);
			continue;
		}
		rig_on_event(r, msg);
		if (id && rig_int(msg, "id") == id)
			answer = json_incref(msg);
		json_decref(msg);
	}
	return answer;
}

static json_t *rig_step(struct rig *r, int ms, json_int_t id)
{
	struct pollfd fds[] = {{r->stalled[RIG_IN] ? -1 : r->wire[RIG_IN], POLLIN, 0},
			       {r->stalled[RIG_OUT] ? -1 : r->wire[RIG_OUT], POLLIN, 0},
			       {r->control, POLLIN, 0}};
	size_t room;
	char *space;
	ssize_t n;

	for (int w = 0; w < RIG_WIRES; w++)
		if (r->nr_late[w])
			fds[w].events |= POLLOUT;
	if (poll(fds, 3, ms) <= 0)
		return NULL;
	for (int w = 0; w < RIG_WIRES; w++) {
		if (fds[w].revents & POLLOUT)
			rig_send_late(r, w);
		if (fds[w].revents & POLLIN)
			rig_read_wire(r, w);
	}
	if (!(fds[2].revents & POLLIN))
		return NULL;
	space = wire_reader_space(&r->reader, &room);
	n = read(r->control, space, room);
	if (n > 0)
		wire_reader_added(&r->reader, (size_t)n);
	return rig_messages(r, id);
}

void rig_pump(struct rig *r, int ms)
{
	uint64_t end = rig_now_ms() + (uint64_t)ms, now;

	while ((now = rig_now_ms()) < end)
		json_decref(rig_step(r, (int)(end - now), 0));
}

json_t *rig_call(struct rig *r, const char *method, json_t *params, json_t **error)
{
	json_t *msg = wire_request(++r->next_id, method, params), *answer = NULL, *result;
	uint64_t end = rig_now_ms() + RIG_ANSWER_MS;
	size_t len;
	char *line = wire_line(msg, &len);

	json_decref(msg);
	if (!line || write(r->control, line, len) != (ssize_t)len)
		rig_die("cannot write to the guest's port");
	free(line);
	while (!answer && rig_now_ms() < end)
		answer = rig_step(r, 50, r->next_id);
	if (!answer) {
		fprintf(stderr, "mon-rig: no answer to %s within %d s\n", method,
			RIG_ANSWER_MS / 1000);
		rig_kill(r);
		exit(3);
	}
	result = json_incref(json_object_get(answer, "result"));
	if (error)
		*error = json_incref(json_object_get(answer, "error"));
	else if (!result)
		fprintf(stderr, "mon-rig: %s: %s\n", method,
			json_string_value(
				json_object_get(json_object_get(answer, "error"), "text")));
	json_decref(answer);
	return result;
}
