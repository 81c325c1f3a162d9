// SPDX-License-Identifier: GPL-2.0-or-later
#include "dpdk/interrupt.h"

#include <unistd.h>

static const int interrupt_signals[] = { SIGINT, SIGTERM, SIGALRM };
enum { NR_SIGNALS = sizeof(interrupt_signals) / sizeof(*interrupt_signals) };

static volatile sig_atomic_t interrupt_came;

/* Again in a second: this one may have come just before a system call. */
static void interrupt_on_signal(int number)
{
	if (number != SIGALRM)
		interrupt_came = number;
	alarm(1);
}

void interrupt_begin(struct interrupt *i)
{
	struct sigaction act = { .sa_handler = interrupt_on_signal }; /* and no SA_RESTART */
	sigset_t open;

	interrupt_came = 0;
	sigemptyset(&open);
	for (int k = 0; k < NR_SIGNALS; k++) {
		sigaction(interrupt_signals[k], &act, &i->before[k]);
		sigaddset(&open, interrupt_signals[k]);
	}
	pthread_sigmask(SIG_UNBLOCK, &open, &i->mask);
}

int interrupt_end(const struct interrupt *i)
{
	pthread_sigmask(SIG_SETMASK, &i->mask, NULL);
	alarm(0);
	for (int k = 0; k < NR_SIGNALS; k++)
		sigaction(interrupt_signals[k], &i->before[k], NULL);
	if (interrupt_came)
		raise(interrupt_came);
	return interrupt_came;
}
