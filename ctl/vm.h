/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A QEMU guest as the host under test, with two vhost-user ports and a virtio-serial port for
 * dststorm-mon: what lab_vm.c starts. Nothing on the host is touched.
 */
#ifndef CTL_VM_H
#define CTL_VM_H

#include <stdbool.h>
#include <limits.h>

#include "lib/err.h"
#include "lib/scenario.h"

struct vm {
	char kernel_dir[PATH_MAX]; /* what scripts/guest-kernel printed */
	char image[PATH_MAX];	   /* the initramfs */
	char release[128];	   /* of the kernel */
	bool kvm;
	/* Unix sockets: gen and sink listen on the first two, QEMU on the third. */
	char in_sock[PATH_MAX], out_sock[PATH_MAX], mon_sock[PATH_MAX];
	char console[PATH_MAX];
	char *argv[80]; /* of QEMU, NULL-terminated, for the manifest too */
};

/* Find or fetch the kernel, make the initramfs, and choose the accelerator by a trial boot (KVM
 * where a guest gets to its first process with it, else TCG). 0 or negative errno. */
int vm_prepare(struct vm *vm, const struct scenario *s, struct err *err);

/* Fill argv. @dir: for the sockets; @console: file for the guest's console. 0 or negative errno. */
int vm_command(struct vm *vm, const struct scenario *s, const char *dir, const char *console,
	       bool test_hooks, struct err *err);
void vm_free(struct vm *vm);

#endif
