// SPDX-License-Identifier: GPL-2.0-or-later
/* pci:ADDRESS, a network card that DPDK drives itself, without the kernel. */
#include "dpdk/port_kind.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_ethdev.h>

#include "dpdk/eal.h"
#include "lib/err.h"
#include "lib/huge.h"
#include "lib/netif.h"

enum { PCI_ADDRESS = 16, PCI_PATH = 320, PCI_FRAME_OVER_MTU = 14 };

/* As the kernel writes it, with the domain. */
static bool pci_address(const char *text, char out[PCI_ADDRESS])
{
	unsigned int domain = 0, bus, device, function;
	int len = 0;

	if (sscanf(text, "%4x:%2x:%2x.%1u%n", &domain, &bus, &device, &function, &len) != 4 || text[len]) {
		domain = len = 0;
		if (sscanf(text, "%2x:%2x.%1u%n", &bus, &device, &function, &len) != 3 || text[len])
			return false;
	}
	snprintf(out, PCI_ADDRESS, "%04x:%02x:%02x.%u", domain & 0xffff, bus & 0xff, device & 0xff,
		 function & 7);
	return true;
}

static int pci_parse(const struct port_name *name, struct err *err)
{
	char address[PCI_ADDRESS];

	if (pci_address(name->arg, address))
		return 0;
	return err_set(err, -EINVAL, "port '%.80s': write the address as lspci -D does, as in "
		       "pci:0000:3b:00.0", name->text);
}

/* A network interface of the kernel's on this device that carries a default route; "" if none. */
static void pci_default_route(const char *device, char name[IFNAMSIZ])
{
	char pattern[PCI_PATH];
	glob_t found = { 0 };

	name[0] = '\0';
	snprintf(pattern, sizeof(pattern), "%s/net/*", device);
	glob(pattern, 0, NULL, &found);
	snprintf(pattern, sizeof(pattern), "%s/virtio*/net/*", device);
	glob(pattern, GLOB_APPEND, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc && !name[0]; i++) {
		const char *base = strrchr(found.gl_pathv[i], '/') + 1;

		if (netif_has_default_route(base))
			snprintf(name, IFNAMSIZ, "%.*s", IFNAMSIZ - 1, base);
	}
	globfree(&found);
}

/* The driver's name, or "". */
static void pci_driver(const char *device, char name[NAME_MAX + 1])
{
	char path[PCI_PATH], to[PATH_MAX];
	const char *base;
	ssize_t len;

	snprintf(path, sizeof(path), "%s/driver", device);
	len = readlink(path, to, sizeof(to) - 1);
	to[len < 0 ? 0 : len] = '\0';
	base = strrchr(to, '/') ? strrchr(to, '/') + 1 : to;
	snprintf(name, NAME_MAX + 1, "%.*s", NAME_MAX, base);
}

/* With these bound, DPDK can drive it; those of mlx drive it together with the kernel. */
static bool pci_driver_serves(const char *driver)
{
	static const char *const good[] = { "vfio-pci", "uio_pci_generic", "igb_uio", "mlx5_core",
					    "mlx4_core" };

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		if (!strcmp(driver, good[i]))
			return true;
	return false;
}

static bool pci_is_network(const char *device)
{
	char path[PCI_PATH], class[16] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s/class", device);
	f = fopen(path, "re");
	if (f && !fgets(class, sizeof(class), f))
		class[0] = '\0';
	if (f)
		fclose(f);
	return !strncmp(class, "0x02", 4);
}

static int pci_check(const struct port_name *name, const char *address, struct err *err)
{
	char device[64], name_of[IFNAMSIZ], found[NAME_MAX + 1];

	snprintf(device, sizeof(device), "/sys/bus/pci/devices/%s", address);
	if (access(device, F_OK))
		return err_set(err, -ENODEV, "port %s: there is no such device: see dpdk-devbind.py "
			       "--status-dev net", name->text);
	if (!pci_is_network(device))
		return err_set(err, -ENODEV, "port %s: that is no network card: see dpdk-devbind.py "
			       "--status-dev net", name->text);
	pci_default_route(device, name_of);
	if (name_of[0])
		return err_set(err, -EPERM, "port %s: it is %s, and a default route leaves by that: "
			       "use a card that this machine does not need", name->text, name_of);
	pci_driver(device, found);
	if (pci_driver_serves(found))
		return 0;
	return err_set(err, -EBUSY, "port %s: %s%.32s%s: if the machine can do without it, modprobe "
		       "vfio-pci && dpdk-devbind.py --bind=vfio-pci %s", name->text, found[0] ? "the kernel's driver " : "",
		       found[0] ? found : "no driver", found[0] ? " has it" : " is bound to it",
		       address);
}

static int pci_prepare(const struct port_name *name, struct eal_options *o, struct err *err)
{
	char address[PCI_ADDRESS] = "";
	unsigned long free_mb;
	int ret;

	pci_address(name->arg, address);
	ret = pci_check(name, address, err);
	if (ret)
		return ret;
	if (o->nr_pci == EAL_PCI_MAX)
		return err_set(err, -E2BIG, "port %s: at most %d PCI devices", name->text, EAL_PCI_MAX);
	free_mb = huge_free_mb();
	if (free_mb < o->memory_mb)
		return err_set(err, -ENOMEM, "port %s: a card needs hugepages, %u MB of them, and %lu MB "
			       "are free: sysctl vm.nr_hugepages=%u", name->text, o->memory_mb, free_mb,
			       o->memory_mb / 2 + 1);
	o->huge = true;
	o->pci[o->nr_pci++] = name->arg;
	return 0;
}

static int pci_describe(struct port *p, char device[64], char args[PORT_KIND_ARGS], struct err *err)
{
	(void)args;
	(void)err;
	pci_address(p->name.arg, device);
	return 0;
}

/* Frames for any address; the card forgets this when it is closed. */
static int pci_configured(struct port *p, struct err *err)
{
	(void)err;
	if (p->nr_rx)
		rte_eth_promiscuous_enable(p->id);
	return 0;
}

static uint32_t pci_max_frame(const struct port *p)
{
	uint16_t mtu = 0;

	if (rte_eth_dev_get_mtu(p->id, &mtu))
		return 0;
	return mtu + (uint32_t)PCI_FRAME_OVER_MTU + (p->conf.vlan ? 4 : 0);
}

static void pci_waits_for(struct port *p, char *buf, size_t size)
{
	snprintf(buf, size, "the link of %s: is its cable plugged in, and the other end up?",
		 p->name.text);
}

static int pci_alive(struct port *p, uint64_t sent_pkts, uint64_t sent_bytes, struct err *err)
{
	(void)sent_pkts;
	(void)sent_bytes;
	if (port_link_up(p))
		return 0;
	return err_set(err, -ENOLINK, "the link of port %s is down", p->name.text);
}

static bool pci_ready(struct port *p)
{
	return port_link_up(p);
}

const struct port_kind port_pci = {
	.prefix = "pci:",
	.usage = "ADDRESS",
	.on_bus = true,
	.parse = pci_parse,
	.prepare = pci_prepare,
	.describe = pci_describe,
	.configured = pci_configured,
	.max_frame = pci_max_frame,
	.ready = pci_ready,
	.waits_for = pci_waits_for,
	.check = pci_alive,
};
