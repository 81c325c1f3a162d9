/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How generator and sink share a machine with the guest between them.
 *
 * Both sleep between polls. A wake-up costs the guest more than the packets it is for: on two cores
 * without KVM, naps of 200 us instead of 50 let a third more packets through the guest, and naps of
 * 500 us no more than that. What they cost is exactness: packets leave, and are seen, up to a nap
 * late. With a core to spare for each program, nobody is in the way and the naps are short.
 */
#ifndef LIB_NAP_H
#define LIB_NAP_H

#include <stdint.h>

#define NAP_SHARED_NS UINT64_C(200000)
#define NAP_NS	      UINT64_C(50000)

/* Nanoseconds to sleep between polls while packets come. @cpus: online CPUs of the machine. */
static inline uint64_t nap_active_ns(long cpus)
{
	return cpus < 4 ? NAP_SHARED_NS : NAP_NS;
}

#endif
