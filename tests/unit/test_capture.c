// SPDX-License-Identifier: GPL-2.0-or-later
// needs: capture/capture.c capture/link.c
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <pcap/pcap.h>

#include "capture/capture.h"
#include "lib/err.h"

static char path[] = "/tmp/test_capture.XXXXXX";

/* Written by libpcap itself, so that what we read is what others write. */
static pcap_dumper_t *file_open(int dlt)
{
	pcap_t *p = pcap_open_dead_with_tstamp_precision(dlt, 65535, PCAP_TSTAMP_PRECISION_NANO);
	pcap_dumper_t *d = pcap_dump_open(p, path);

	assert_non_null(d);
	pcap_close(p);
	return d;
}

static void file_add(pcap_dumper_t *d, const uint8_t *bytes, uint32_t caplen, uint32_t len)
{
	struct pcap_pkthdr h = { .ts = { 7, 123456789 }, .caplen = caplen, .len = len };

	pcap_dump((u_char *)d, &h, bytes);
}

/* An IPv4 header's or IPv6 header's worth of bytes to ....@last behind @at bytes of link layer. */
static void put_ip4(uint8_t *at, uint8_t last)
{
	memset(at, 0, 20);
	at[0] = 0x45;
	memcpy(at + 16, (uint8_t[]){ 198, 19, 0, last }, 4);
}

static void put_ip6(uint8_t *at, uint8_t last)
{
	memset(at, 0, 40);
	at[0] = 0x60;
	memcpy(at + 24, (uint8_t[]){ 0x20, 1, 0, 2 }, 4);
	at[39] = last;
}

static struct {
	int family;
	struct addr a;
} got[16];
static unsigned int nr_got;

static int collect(struct addrset *set, int family, struct addr a, struct err *err)
{
	(void)set;
	if (nr_got == 16)
		return err_set(err, -E2BIG, "full");
	got[nr_got].family = family;
	got[nr_got++].a = a;
	return 0;
}

static int destinations(int family, struct err *err)
{
	nr_got = 0;
	return capture_destinations(path, family, NULL, collect, err);
}

static void test_tags_and_families(void **state)
{
	uint8_t f[128] = { [12] = 8, 0 };
	pcap_dumper_t *d = file_open(DLT_EN10MB);
	struct err err;

	(void)state;
	put_ip4(f + 14, 1);
	file_add(d, f, 34, 34);
	file_add(d, f, 34, 34); /* again */
	memcpy(f + 12, (uint8_t[]){ 0x81, 0, 0, 10, 8, 0 }, 6);
	put_ip4(f + 18, 2);
	file_add(d, f, 38, 38);
	memcpy(f + 12, (uint8_t[]){ 0x88, 0xa8, 0, 100, 0x81, 0, 0, 10, 0x86, 0xdd }, 10);
	put_ip6(f + 22, 3);
	file_add(d, f, 62, 62);
	memcpy(f + 12, (uint8_t[]){ 8, 6 }, 2); /* ARP has no destination */
	file_add(d, f, 60, 60);
	memcpy(f + 12, (uint8_t[]){ 8, 0 }, 2);
	file_add(d, f, 33, 60); /* cut within the header */
	pcap_dump_close(d);

	assert_int_equal(destinations(AF_UNSPEC, &err), 0);
	assert_int_equal(nr_got, 2);
	assert_int_equal(got[0].family, AF_INET);
	assert_int_equal(got[0].a.lo, 0xc6130001);
	assert_int_equal(got[1].a.lo, 0xc6130002);
	assert_int_equal(destinations(AF_INET6, &err), 0);
	assert_int_equal(nr_got, 1);
	assert_int_equal(got[0].a.hi, UINT64_C(0x2001000200000000));
	assert_int_equal(got[0].a.lo, 3);
}

static void test_replay(void **state)
{
	uint8_t f[128] = { 2, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 8, 0 };
	pcap_dumper_t *d = file_open(DLT_EN10MB);
	struct capture c;
	struct err err;

	(void)state;
	put_ip4(f + 14, 1);
	file_add(d, f, 60, 60);
	file_add(d, f, 34, 90);
	pcap_dump_close(d);
	assert_int_equal(capture_read(&c, path, &err), 0);
	assert_int_equal(c.nr, 2);
	assert_int_equal(c.len_max, 90);
	assert_int_equal(c.nr_cut, 1);
	assert_int_equal(c.packets[0].t_ns, UINT64_C(7123456789));
	assert_memory_equal(c.bytes + c.packets[0].at, f, 60);
	assert_int_equal(c.packets[1].len, 90);
	assert_int_equal(c.packets[1].whole, 34);
	assert_memory_equal(c.bytes + c.packets[1].at, f, 34);
	for (unsigned int i = 34; i < 90; i++)
		assert_int_equal(c.bytes[c.packets[1].at + i], 0);
	capture_free(&c);
}

/* Every link layer without MAC addresses becomes Ethernet, and has the same destinations. */
static void test_other_links(void **state)
{
	static const struct {
		int dlt;
		unsigned int at, type_at;
	} links[] = { { DLT_LINUX_SLL, 16, 14 }, { DLT_LINUX_SLL2, 20, 0 }, { DLT_RAW, 0, 0 } };
	struct capture c;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
		uint8_t f[64] = { 0 };
		pcap_dumper_t *d = file_open(links[i].dlt);

		if (links[i].at)
			memcpy(f + links[i].type_at, (uint8_t[]){ 8, 0 }, 2);
		put_ip4(f + links[i].at, 9);
		file_add(d, f, links[i].at + 20, links[i].at + 20);
		pcap_dump_close(d);
		assert_int_equal(destinations(AF_INET, &err), 0);
		assert_int_equal(got[0].a.lo, 0xc6130009);
		assert_int_equal(capture_read(&c, path, &err), 0);
		assert_int_equal(c.packets[0].len, 34);
		assert_memory_equal(c.bytes, ((uint8_t[14]){ [12] = 8 }), 14);
		assert_memory_equal(c.bytes + 14, f + links[i].at, 20);
		capture_free(&c);
	}
}

static void file_write(const void *bytes, size_t len)
{
	FILE *f = fopen(path, "w");

	assert_int_equal(fwrite(bytes, 1, len, f), len);
	fclose(f);
}

static void refused(int code, const char *part)
{
	struct capture c;
	struct err err;

	assert_int_equal(capture_read(&c, path, &err), code);
	assert_non_null(strstr(err.text, part));
	assert_null(strchr(err.text, '\n'));
}

static void test_errors(void **state)
{
	uint8_t f[64] = { [12] = 8, 0 };
	struct capture c;
	pcap_dumper_t *d;
	struct err err;

	(void)state;
	assert_int_equal(capture_read(&c, "/nonexistent/x.pcap", &err), -ENOENT);
	assert_int_equal(capture_read(&c, "/tmp", &err), -EISDIR);
	file_write("", 0);
	refused(-EINVAL, "no capture");
	file_write("these are words, and no packets at all", 38);
	refused(-EINVAL, "no capture");
	pcap_dump_close(file_open(DLT_EN10MB));
	refused(-EINVAL, "no packets");
	pcap_dump_close(file_open(DLT_IEEE802_11));
	refused(-EINVAL, "IEEE802_11");

	d = file_open(DLT_EN10MB);
	file_add(d, f, 60, 60);
	pcap_dump_close(d);
	assert_int_equal(destinations(AF_UNSPEC, &err), -ENODATA); /* IP version 0 */
	assert_non_null(strstr(err.text, "1 packets is IP"));
	assert_int_equal(truncate(path, 80), 0);
	refused(-EINVAL, "breaks off after 0 packets");
}

/* What the caller's function says ends it. */
static void test_add_fails(void **state)
{
	uint8_t f[64] = { [12] = 8, 0 };
	pcap_dumper_t *d = file_open(DLT_EN10MB);
	struct err err;

	(void)state;
	for (uint8_t i = 0; i < 17; i++) {
		put_ip4(f + 14, i);
		file_add(d, f, 60, 60);
	}
	pcap_dump_close(d);
	assert_int_equal(destinations(AF_INET, &err), -E2BIG);
	assert_string_equal(err.text, "full");
}

static int make_file(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 || close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tags_and_families), cmocka_unit_test(test_replay),
		cmocka_unit_test(test_other_links),	  cmocka_unit_test(test_errors),
		cmocka_unit_test(test_add_fails),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
