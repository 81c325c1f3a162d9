// SPDX-License-Identifier: GPL-2.0-or-later
/* The `vm` lab: QEMU connects to the sockets of gen and sink; mon is the guest's first process. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "ctl/ctl.h"
#include "ctl/jpath.h"
#include "ctl/run.h"

#define CONNECT_MS 10000
#define BOOT_MS	   60000

static int vm_lab_prepare(struct run *run, struct err *err)
{
	struct lab *lab = &run->lab;
	int ret;

	if (run->opt.gen_port) {
		run->code = EXIT_USAGE;
		return err_set(err, -EINVAL, "--gen-port is for lab: netns; leave it out");
	}
	ret = vm_prepare(&lab->vm, &run->scenario, err);
	snprintf(lab->release, sizeof(lab->release), "%s", lab->vm.release);
	return ret;
}

static int vm_lab_open(struct run *run, struct err *err)
{
	struct lab *lab = &run->lab;
	char console[PATH_MAX + 16];
	int ret;

	snprintf(console, sizeof(console), "%s/console.log", run->results.dir);
	ret = vm_command(&lab->vm, &run->scenario, run->rundir.path, console,
			 run->opt.panic_after_s > 0 || run->opt.hang_after_s > 0, err);
	snprintf(lab->gen_port, sizeof(lab->gen_port), "vhost:%s", lab->vm.in_sock);
	snprintf(lab->sink_source, sizeof(lab->sink_source), "vhost:%s", lab->vm.out_sock);
	lab->gen_sock = lab->vm.in_sock;
	lab->sink_sock = lab->vm.out_sock;
	lab->console = lab->vm.console;
	return ret;
}

static int vm_lab_start(struct run *run, struct err *err)
{
	struct lab *lab = &run->lab;
	int ret = lab_spawn(run, &lab->guest, lab->vm.argv, SIGKILL, false, err);

	if (!ret)
		ret = role_connect(&run->mon, lab->vm.mon_sock, CONNECT_MS, err);
	return ret ? ret : lab_await_mon(run, BOOT_MS, err);
}

static void vm_lab_stop(struct run *run)
{
	struct role *guest = &run->lab.guest;

	/* Ports away first would leave the guest's drivers waiting; the guest is told first. */
	run->gen.ending = run->sink.ending = guest->ending = true;
	if (guest->pid && run->mon.bev && !run->loop.failed) {
		role_cast(&run->mon, "quit");
		role_await_exit(guest, 1500);
	}
	role_end(guest, 300);
	role_end(&run->gen, 700);
	role_end(&run->sink, 700);
}

/* With -no-reboot the guest ends by itself in a panic, or a reset. */
static bool vm_lab_exited(struct run *run, pid_t pid, int status)
{
	struct role *guest = &run->lab.guest;
	char words[256];

	if (!guest->pid || pid != guest->pid)
		return false;
	guest->pid = 0;
	guest->status = status;
	if (guest->ending || run->loop.failed)
		return true;
	role_last_words(guest, words, sizeof(words));
	/* QEMU ends with 0 also when it is told to by SIGTERM; then it says so. */
	if (WIFEXITED(status) && !WEXITSTATUS(status) && !strstr(words, "terminating on signal")) {
		run->loop.dut_died = true;
		loop_fail(&run->loop, "the guest ended by itself, by a panic or a reset; see console.log");
		return true;
	}
	loop_fail(&run->loop, "QEMU ended with %s %d%s%s", WIFSIGNALED(status) ? "signal" : "status",
		  WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
		  *words ? ": " : "", words);
	return true;
}

static void vm_lab_manifest(const struct run *run, json_t *doc)
{
	const struct vm *vm = &run->lab.vm;
	json_t *argv = json_array();

	for (unsigned int i = 0; vm->argv[i]; i++)
		json_array_append_new(argv, json_string(vm->argv[i]));
	jpath_set(doc, "dut.accel", json_string(vm->kvm ? "kvm" : "tcg"));
	jpath_set(doc, "dut.qemu", argv);
}

static void vm_lab_free(struct run *run)
{
	vm_free(&run->lab.vm);
}

const struct lab_ops lab_vm = {
	.name = "vm",
	.about = "a packaged or built kernel in a QEMU guest; needs no root (the default)",
	.dut = "the guest",
	.prepare = vm_lab_prepare,
	.open = vm_lab_open,
	.start = vm_lab_start,
	.stop = vm_lab_stop,
	.exited = vm_lab_exited,
	.manifest = vm_lab_manifest,
	.free = vm_lab_free,
};
