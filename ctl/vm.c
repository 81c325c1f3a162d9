// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/ctl.h"
#include "ctl/lab.h"
#include "ctl/vm.h"

#define VM_OVERHEAD_MB 600 /* QEMU itself, and 256 MB each for generator and sink */

static int vm_script(const char *name, const char *a, const char *b, char *out, size_t size,
		     struct err *err)
{
	char path[PATH_MAX];
	char *argv[] = {path, (char *)a, (char *)b, NULL};
	int ret = ctl_find(name, path, err);

	return ret ? ret : ctl_capture(argv, out, size, err);
}

/* Only a name for people: a kernel without one is "unknown". */
static void vm_release(struct vm *vm)
{
	char path[PATH_MAX + 16];
	FILE *f;

	snprintf(path, sizeof(path), "%s/release", vm->kernel_dir);
	f = fopen(path, "re");
	if (!f || !fgets(vm->release, sizeof(vm->release), f))
		strcpy(vm->release, "unknown");
	if (f)
		fclose(f);
	vm->release[strcspn(vm->release, "\n")] = '\0';
}

/* QEMU would start all the same, and the kernel's OOM killer choose whom to end later. */
static int vm_check_memory(const struct scenario *s, struct err *err)
{
	unsigned long mb = ctl_available_mb();

	if (!mb || s->memory_mb + VM_OVERHEAD_MB <= mb)
		return 0;
	return err_set(err, -ENOMEM,
		       "no memory for the guest: it wants %u MB, and %d more for QEMU and the ports; %lu MB are available: lower dut.memory_mb",
		       s->memory_mb, VM_OVERHEAD_MB, mb);
}

int vm_prepare(struct vm *vm, const struct scenario *s, struct err *err)
{
	char mon[PATH_MAX], accel[32];
	int ret;

	ret = vm_check_memory(s, err);
	if (!ret)
		ret = vm_script("guest-kernel", s->kernel, NULL, vm->kernel_dir, PATH_MAX, err);
	if (ret)
		return ret;
	vm_release(vm);
	ret = ctl_find("dststorm-mon", mon, err);
	if (!ret)
		ret = vm_script("guest-image", vm->kernel_dir, mon, vm->image, PATH_MAX, err);
	if (!ret)
		ret = vm_script("guest-accel", vm->kernel_dir, vm->image, accel, sizeof(accel), err);
	if (!ret)
		vm->kvm = !strcmp(accel, "kvm");
	return ret;
}

struct vm_args {
	char **argv;
	unsigned int n, max;
	bool oom;
};

static void vm_arg(struct vm_args *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void vm_arg(struct vm_args *a, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (a->n + 1 >= a->max || vasprintf(&text, fmt, ap) < 0)
		a->oom = true;
	else
		a->argv[a->n++] = text;
	va_end(ap);
}

/*
 * A port. vectors=0 under TCG: QEMU 7.2 crashes in msix_set_vector_notifiers otherwise. The rings
 * are the largest that vhost-user may have: they absorb what comes while the one CPU is elsewhere.
 */
static void vm_port(struct vm_args *a, const struct vm *vm, const char *id, const char *sock,
		    const char *mac)
{
	vm_arg(a, "-chardev");
	vm_arg(a, "socket,id=c-%s,path=%s", id, sock);
	vm_arg(a, "-netdev");
	vm_arg(a, "vhost-user,id=n-%s,chardev=c-%s", id, id);
	vm_arg(a, "-device");
	vm_arg(a, "virtio-net-pci,netdev=n-%s,mac=%s,romfile=,rx_queue_size=1024,tx_queue_size=1024%s",
	       id, mac, vm->kvm ? "" : ",vectors=0");
}

static void vm_machine(struct vm_args *a, const struct vm *vm, const struct scenario *s,
		       bool test_hooks)
{
	vm_arg(a, "qemu-system-x86_64");
	vm_arg(a, "-nodefaults");
	vm_arg(a, "-no-user-config");
	vm_arg(a, "-no-reboot");
	vm_arg(a, "-display");
	vm_arg(a, "none");
	vm_arg(a, "-machine");
	vm_arg(a, "q35,accel=%s", vm->kvm ? "kvm" : "tcg");
	vm_arg(a, "-cpu");
	vm_arg(a, "%s", vm->kvm ? "host" : "max");
	vm_arg(a, "-smp");
	vm_arg(a, "%u", s->cpus);
	vm_arg(a, "-m");
	vm_arg(a, "%u", s->memory_mb);
	/* vhost-user maps the guest's memory, so it has to be shareable. */
	vm_arg(a, "-object");
	vm_arg(a, "memory-backend-memfd,id=mem,size=%uM,share=on", s->memory_mb);
	vm_arg(a, "-numa");
	vm_arg(a, "node,memdev=mem");
	vm_arg(a, "-kernel");
	vm_arg(a, "%s/vmlinuz", vm->kernel_dir);
	vm_arg(a, "-initrd");
	vm_arg(a, "%s", vm->image);
	vm_arg(a, "-append");
	/* panic=-1 reboots at once, which -no-reboot turns into QEMU's end: seen without a time-out. */
	vm_arg(a, "console=ttyS0 panic=-1 oops=panic quiet %s%s", s->cmdline ? s->cmdline : "",
	       test_hooks ? " dststorm.test-hooks" : "");
}

/* QEMU splits its options at commas; a doubled one stands for itself. */
static void vm_console(struct vm_args *a, const char *path)
{
	char doubled[2 * PATH_MAX], *out = doubled;

	for (; *path && out < doubled + sizeof(doubled) - 2; path++) {
		if (*path == ',')
			*out++ = ',';
		*out++ = *path;
	}
	*out = '\0';
	vm_arg(a, "-chardev");
	vm_arg(a, "file,id=console,path=%s", doubled);
}

int vm_command(struct vm *vm, const struct scenario *s, const char *dir, const char *console,
	       bool test_hooks, struct err *err)
{
	struct vm_args a = {vm->argv, 0, sizeof(vm->argv) / sizeof(*vm->argv), false};

	snprintf(vm->in_sock, PATH_MAX, "%s/in.sock", dir);
	snprintf(vm->out_sock, PATH_MAX, "%s/out.sock", dir);
	snprintf(vm->mon_sock, PATH_MAX, "%s/mon.sock", dir);
	snprintf(vm->console, PATH_MAX, "%s", console);
	vm_machine(&a, vm, s, test_hooks);
	vm_console(&a, console);
	vm_arg(&a, "-serial");
	vm_arg(&a, "chardev:console");
	vm_arg(&a, "-device");
	vm_arg(&a, "virtio-serial-pci,max_ports=2");
	vm_arg(&a, "-chardev");
	vm_arg(&a, "socket,id=c-mon,path=%s,server=on,wait=off", vm->mon_sock);
	vm_arg(&a, "-device");
	vm_arg(&a, "virtserialport,chardev=c-mon,name=dststorm");
	vm_port(&a, vm, "in", vm->in_sock, LAB_IN_MAC);
	vm_port(&a, vm, "out", vm->out_sock, LAB_OUT_MAC);
	a.argv[a.n] = NULL;
	return a.oom ? err_set(err, -ENOMEM, "no QEMU command line: out of memory") : 0;
}

void vm_free(struct vm *vm)
{
	for (unsigned int i = 0; vm->argv[i]; i++)
		free(vm->argv[i]);
	vm->argv[0] = NULL;
}
