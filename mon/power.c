// SPDX-License-Identifier: GPL-2.0-or-later
#include "mon/power.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/err.h"
#include "mon/file.h"

bool power_is_init(void)
{
	return getpid() == 1;
}

static void power_pause_ms(long ms)
{
	struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&ts, NULL);
}

void power_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	power_fail("the kernel refused to power off");
}

void power_fail(const char *why)
{
	char text[512];

	snprintf(text, sizeof(text), "dststorm-mon: %s\n", why);
	file_write("/dev/console", O_WRONLY | O_NOCTTY, text, NULL);
	sync();
	power_pause_ms(200); /* a serial console drains slowly */
	reboot(RB_AUTOBOOT);
	_exit(EXIT_RIG); /* the kernel panics: the host sees that as well */
}

void power_reap(void)
{
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

int power_panic(struct err *err)
{
	return file_write("/proc/sysrq-trigger", O_WRONLY, "c", err);
}
