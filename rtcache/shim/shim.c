// SPDX-License-Identifier: GPL-2.0-or-later
/* What of the kernel's services is more than a macro. */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SHIM_ALIGN = 64, SHIM_POISON = 0x6b, SHIM_CHUNK = 2 << 20 };

__thread ptrdiff_t shim_cpu_offset;
static __thread uint64_t fail_state;
static unsigned int fail_one_in;
static long allocated;
static bool no_grace;

/* Objects are cut from chunks, and come back to a list. */
struct kmem_cache {
	size_t size, align;
	spinlock_t lock;
	void *free;		  /* each begins with a pointer to the next */
	struct chunk *chunks;
	char *next, *end;	  /* of the chunk that is being cut */
};

struct chunk {
	struct chunk *next;
};

void shim_no_grace(bool broken)
{
	WRITE_ONCE(no_grace, broken);
}

void shim_call_rcu(struct rcu_head *head, void (*func)(struct rcu_head *head))
{
	if (READ_ONCE(no_grace))
		func(head);
	else
		urcu_qsbr_call_rcu(head, func);
}

void shim_fail_one_in(unsigned int nr)
{
	WRITE_ONCE(fail_one_in, nr);
}

long shim_allocated(void)
{
	return __atomic_load_n(&allocated, __ATOMIC_SEQ_CST);
}

static bool must_fail(void)
{
	unsigned int nr = READ_ONCE(fail_one_in);

	if (!nr)
		return false;
	/* Each thread its own sequence. */
	fail_state = (fail_state ? fail_state : (uintptr_t)&fail_state) * 6364136223846793005u + 1442695040888963407u;
	return (fail_state >> 33) % nr == 0;
}

static void *count(void *p)
{
	if (p)
		__atomic_fetch_add(&allocated, 1, __ATOMIC_RELAXED);
	return p;
}

static void uncount(const void *p)
{
	if (p)
		__atomic_fetch_sub(&allocated, 1, __ATOMIC_RELAXED);
}

/* As the kernel's own memory what is large lies in large pages, where there are any. */
static void *pages(size_t size)
{
	size_t align = size < SHIM_CHUNK ? SHIM_ALIGN : SHIM_CHUNK;
	void *p = NULL;

	if (posix_memalign(&p, align, size))
		return NULL;
	if (align == SHIM_CHUNK)
		(void)madvise(p, size, MADV_HUGEPAGE);
	return p;
}

static void *take(size_t size)
{
	return must_fail() ? NULL : count(pages(size));
}

static void give(void *p)
{
	uncount(p);
	free(p);
}

struct kmem_cache *kmem_cache_create(const char *name, size_t size, size_t align, unsigned long flags,
				     void (*ctor)(void *))
{
	struct kmem_cache *s = take(sizeof(*s));

	(void)name;
	(void)flags;
	(void)ctor;
	if (!s)
		return NULL;
	align = align < sizeof(void *) ? sizeof(void *) : align;
	*s = (struct kmem_cache){ .size = (size + align - 1) / align * align, .align = align };
	spin_lock_init(&s->lock);
	return s;
}

void kmem_cache_destroy(struct kmem_cache *s)
{
	while (s && s->chunks) {
		struct chunk *c = s->chunks;

		s->chunks = c->next;
		free(c);
	}
	give(s);
}

#ifdef __SANITIZE_ADDRESS__
/* Each on its own, so that a use after it was freed is seen. */
static void *slab_take(struct kmem_cache *s)
{
	void *p = NULL;

	return posix_memalign(&p, s->align, s->size) ? NULL : p;
}

static void slab_give(struct kmem_cache *s, void *p)
{
	(void)s;
	free(p);
}
#else
static bool slab_grow(struct kmem_cache *s)
{
	struct chunk *c = pages(SHIM_CHUNK);

	if (!c)
		return false;
	c->next = s->chunks;
	s->chunks = c;
	s->next = (char *)c + (sizeof(*c) + s->align - 1) / s->align * s->align;
	s->end = (char *)c + SHIM_CHUNK;
	return true;
}

static void *slab_take(struct kmem_cache *s)
{
	void *p = NULL;

	spin_lock(&s->lock);
	if (s->free) {
		p = s->free;
		memcpy(&s->free, p, sizeof(void *));
	} else if ((size_t)(s->end - s->next) >= s->size || slab_grow(s)) {
		p = s->next;
		s->next += s->size;
	}
	spin_unlock(&s->lock);
	return p;
}

static void slab_give(struct kmem_cache *s, void *p)
{
	spin_lock(&s->lock);
	memcpy(p, &s->free, sizeof(void *));
	s->free = p;
	spin_unlock(&s->lock);
}
#endif

void *kmem_cache_alloc(struct kmem_cache *s, gfp_t flags)
{
	(void)flags;
	return must_fail() ? NULL : count(slab_take(s));
}

void kmem_cache_free(struct kmem_cache *s, void *p)
{
	memset(p, SHIM_POISON, s->size);
	uncount(p);
	slab_give(s, p);
}

void *kmalloc(size_t size, gfp_t flags)
{
	(void)flags;
	return take(size);
}

void kfree(void *p)
{
	give(p);
}

void *kvzalloc(size_t size, gfp_t flags)
{
	void *p = kmalloc(size, flags);

	return p ? memset(p, 0, size) : NULL;
}

void *kvcalloc(size_t nr, size_t size, gfp_t flags)
{
	return size && nr > SIZE_MAX / size ? NULL : kvzalloc(nr * size, flags);
}

void kvfree(void *p)
{
	give(p);
}

void *shim_alloc_percpu(size_t size)
{
	return size > SHIM_CPU_STRIDE ? NULL : kvcalloc(SHIM_CPUS, SHIM_CPU_STRIDE, GFP_KERNEL);
}

void free_percpu(void *p)
{
	give(p);
}

int scnprintf(char *buf, size_t size, const char *format, ...)
{
	va_list args;
	int len;

	if (!size)
		return 0;
	va_start(args, format);
	len = vsnprintf(buf, size, format, args);
	va_end(args);
	if (len < 0)
		return 0;
	return (size_t)len < size ? len : (int)(size - 1);
}
