// SPDX-License-Identifier: GPL-2.0-or-later
#include "dpdk/interrupt.h"

#include <stdatomic.h>
#include <time.h>

enum { INTERRUPT_KICK_NS = 100 * 1000 * 1000 };

static const int interrupt_signals[] = { SIGINT, SIGTERM, SIGUSR1 };
enum { NR_SIGNALS = sizeof(interrupt_signals) / sizeof(*interrupt_signals) };

static atomic_int interrupt_came;

/* In whichever thread: DPDK's take them, too. */
static void interrupt_on_signal(int number)
{
	if (number != SIGUSR1)
		atomic_store(&interrupt_came, number);
}

/* Again and again: a kick may come just before the system call. */
static void *interrupt_thread(void *arg)
{
	struct interrupt *i = arg;

	pthread_sigmask(SIG_UNBLOCK, &i->wanted, NULL);
	for (;;) {
		nanosleep(&(struct timespec){ .tv_nsec = INTERRUPT_KICK_NS }, NULL);
		if (atomic_load(&interrupt_came))
			pthread_kill(i->caller, SIGUSR1);
	}
	return NULL;
}

void interrupt_begin(struct interrupt *i)
{
	struct sigaction act = { .sa_handler = interrupt_on_signal }; /* and no SA_RESTART */

	*i = (struct interrupt){ .caller = pthread_self() };
	atomic_store(&interrupt_came, 0);
	sigemptyset(&i->wanted);
	sigaddset(&i->wanted, SIGINT);
	sigaddset(&i->wanted, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &i->wanted, &i->mask);
	for (int k = 0; k < NR_SIGNALS; k++)
		sigaction(interrupt_signals[k], &act, &i->before[k]);
	i->running = !pthread_create(&i->thread, NULL, interrupt_thread, i);
}

int interrupt_end(struct interrupt *i)
{
	int came;

	if (i->running) {
		pthread_cancel(i->thread);
		pthread_join(i->thread, NULL);
	}
	for (int k = 0; k < NR_SIGNALS; k++)
		sigaction(interrupt_signals[k], &i->before[k], NULL);
	came = atomic_load(&interrupt_came);
	if (came)
		raise(came);
	pthread_sigmask(SIG_SETMASK, &i->mask, NULL);
	return came;
}
