/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/recorder/recorder.h"

#include <stddef.h>

#include <pub_tool_aspacemgr.h>
#include <pub_tool_libcfile.h>
#include <pub_tool_libcproc.h>
#include <pub_tool_libcsignal.h>
#include <pub_tool_machine.h>
#include <pub_tool_vki.h>
#include <pub_tool_vkiscnums.h>

#include "cmd/recorder/core.h"

/*
 * The layout of the ring.  The distance of data areas (and of id areas) is twice their capacity,
 * and they are aligned, so that one bit of a cursor shows that its area is full, and there is room
 * for what is written until the next check.
 */
#define NBUFFERS    8u
#define EVENTS_SIZE (128ul << 10)
/* Room left by other events: a PARTIAL event must be in the same buffer as its block. */
#define PARTIAL_SIZE  (sizeof(struct vt_ring_event) + sizeof(struct vt_ring_number))
#define DATA_DISTANCE (2 * RING_DATA_FULL)
#define DATA_SKIPPED  (16ul << 10)
#define IDS_DISTANCE  (2 * RING_IDS_FULL)
#define EVENTS_START  4096ul
#define DATA_START    (2 * IDS_DISTANCE)
#define IDS_START     (DATA_START + NBUFFERS * DATA_DISTANCE)
#define RING_SIZE     (IDS_START + NBUFFERS * IDS_DISTANCE)

_Static_assert(sizeof(struct vt_ring) <= EVENTS_START, "the header has a page");
_Static_assert(EVENTS_START + NBUFFERS * EVENTS_SIZE <= DATA_START, "events come before the data");
_Static_assert(DATA_START % DATA_DISTANCE == 0 && IDS_START % IDS_DISTANCE == 0, "alignment");
#define UNCHECKED (RING_PAGE * RING_PAGE_FACTOR)
_Static_assert(RING_DATA_ROOM + UNCHECKED < RING_DATA_FULL, "what is written late has room");
_Static_assert(4 * RING_PAGE < RING_IDS_FULL, "so have their ids");
_Static_assert(offsetof(struct vt_ring, ids_next) == RING_IDS_CURSOR &&
		       offsetof(struct vt_ring, data_next) == RING_DATA_CURSOR,
	       "cursors are copied in one go");
_Static_assert(RING_MAX_EVENT + 64 + PARTIAL_SIZE <= EVENTS_SIZE, "an event fits");
_Static_assert(PARTIAL_SIZE % 8 == 0, "as all events are aligned");

/* poll(2): bits that Valgrind's headers lack. */
#define POLL_OUT  0x04
#define POLL_GONE (0x08 | 0x10 | 0x20)

/* How often a waiting recorder checks if the reader still exists. */
#define PATIENCE_MS 200

Bool ring_recording = False;

static struct vt_ring *ring;
static struct vt_ring_shared *shared;
static Int control = -1;
static ThreadId live; /* the thread whose shadow registers have the cursors */
static UInt pending;  /* bytes of the event that ring_done() ends */

static UWord make_syscall(UWord number, UWord a, UWord b, UWord c, UWord d, UWord e, UWord f)
{
	SysRes r = VG_(do_syscall)(number, a, b, c, d, e, f, 0, 0);

	return sr_isError(r) ? ~0ul : sr_Res(r);
}

static struct vt_ring_buffer *get_current_buffer(void)
{
	return &ring->buffers[ring->current];
}

/* True if the reader exists; waits up to `ms` until the control fifo is writable. */
static Bool is_reader_there(Int ms, Bool *writable)
{
	struct vki_pollfd p = {.fd = control, .events = POLL_OUT};
	SysRes r = VG_(poll)(&p, 1, ms);

	if (writable)
		*writable = !sr_isError(r) && (p.revents & POLL_OUT);
	return sr_isError(r) || !(p.revents & POLL_GONE);
}

/* Ends the recording: instrumented code goes on writing into one buffer, again and again. */
static void end_recording(void)
{
	if (!ring_recording)
		return;
	ring_recording = False;
	if (control >= 0)
		VG_(close)(control);
	control = -1;
}

/* Writes to the reader.  If that ends just now, the program must not get a SIGPIPE for it. */
static Bool write_message(const struct vt_ring_message *m)
{
	const vki_sigset_t broken = {{1ul << (VKI_SIGPIPE - 1)}};
	const struct vki_timespec at_once = {0};
	vki_sigset_t old, before = {{0}};
	Bool written;

	VG_(sigprocmask)(VKI_SIG_BLOCK, &broken, &old);
	make_syscall(__NR_rt_sigpending, (UWord)&before, sizeof(before), 0, 0, 0, 0);
	written = VG_(write)(control, m, sizeof(*m)) == sizeof(*m);
	/* The program's own one stays. */
	if (!written && !(before.sig[0] & broken.sig[0]))
		make_syscall(__NR_rt_sigtimedwait, (UWord)&broken, 0, (UWord)&at_once,
			     sizeof(broken), 0, 0);
	VG_(sigprocmask)(VKI_SIG_SETMASK, &old, NULL);
	return written;
}

static Bool send_message(UInt type, UInt buffer)
{
	struct vt_ring_message m = {.type = type,
				    .pid = ring->pid,
				    .ppid = ring->ppid,
				    .seq = ring->seq,
				    .buffer = buffer};
	Bool writable = False;

	while (is_reader_there(PATIENCE_MS, &writable)) {
		if (writable && write_message(&m))
			return True;
	}
	return False;
}

/* Waits until the reader has read this buffer. */
static Bool wait_free(struct vt_ring_buffer *b)
{
	struct vki_timespec patience = {.tv_nsec = PATIENCE_MS * 1000000l};
	UInt state;

	while ((state = __atomic_load_n(&b->state, __ATOMIC_ACQUIRE)) == VT_RING_FULL) {
		if (shared->stop || !is_reader_there(0, NULL))
			return False;
		make_syscall(__NR_futex, (UWord)&b->state, VKI_FUTEX_WAIT, state, (UWord)&patience,
			     0, 0);
	}
	return True;
}

static void set_cursors(UInt buffer)
{
	struct vt_ring_buffer *b = &ring->buffers[buffer];

	ring->data_next = (Addr)ring + b->data_offset;
	ring->ids_next = (Addr)ring + b->ids_offset;
	*(ULong *)ring->ids_next = 0;
}

static void begin_buffer(UInt buffer, ULong number)
{
	struct vt_ring_buffer *b = &ring->buffers[buffer];
	struct vki_timespec now;

	VG_(clock_gettime)(&now, VKI_CLOCK_MONOTONIC);
	b->number = number;
	b->time = now.tv_sec * 1000000000ull + now.tv_nsec;
	b->tid = threads_current();
	b->ids = b->data = b->events = 0;
	ring->current = buffer;
	set_cursors(buffer);
	__atomic_store_n(&b->state, VT_RING_FILLING, __ATOMIC_RELEASE);
}

static Bool announce_buffer(void)
{
	struct vt_ring_buffer *b = get_current_buffer();

	b->ids = ring->ids_next - (Addr)ring - b->ids_offset;
	b->data = ring->data_next - (Addr)ring - b->data_offset;
	__atomic_store_n(&b->state, VT_RING_FULL, __ATOMIC_RELEASE);
	return send_message(VT_RING_DATA, ring->current);
}

void ring_flush(void)
{
	ULong number;
	UInt next;

	if (!ring_recording) {
		if (ring)
			set_cursors(ring->current);
		return;
	}
	number = get_current_buffer()->number + 1;
	next = (ring->current + 1) % NBUFFERS;
	if (shared->stop || !announce_buffer() || !wait_free(&ring->buffers[next])) {
		end_recording();
		set_cursors(ring->current);
		return;
	}
	begin_buffer(next, number);
}

ThreadId ring_pause(void)
{
	ThreadId was = live;

	if (live)
		VG_(get_shadow_regs_area)(live, (UChar *)&ring->ids_next, 1, 0, 2 * sizeof(ULong));
	live = 0;
	return was;
}

void ring_resume(ThreadId tid)
{
	if (tid && ring)
		VG_(set_shadow_regs_area)(tid, 1, 0, 2 * sizeof(ULong), (UChar *)&ring->ids_next);
	live = ring ? tid : 0;
}

void ring_full(void)
{
	ThreadId was = ring_pause();

	ring_flush();
	ring_resume(was);
}

void ring_close(void)
{
	if (!ring_recording)
		return;
	ring_pause();
	ring->ended = 1;
	if (announce_buffer())
		send_message(VT_RING_BYE, 0);
	ring_recording = False;
}

UInt ring_new_id(void)
{
	return __atomic_fetch_add(&shared->next_id, 1, __ATOMIC_RELAXED);
}

UInt ring_in_progress(void)
{
	return ring && ring_recording ? *(UInt *)ring->ids_next : 0;
}

/* ---- events ---- */

void *ring_event(UInt type, Int tid, SizeT bytes)
{
	struct vt_ring_buffer *b;
	struct vt_ring_event *e;
	SizeT size = (sizeof(*e) + bytes + 7) & ~7ul;
	ThreadId was;

	if (!ring_recording)
		return NULL;
	tl_assert(bytes <= RING_MAX_EVENT);
	was = ring_pause();
	if (get_current_buffer()->events + size + (type == VT_RING_PARTIAL ? 0 : PARTIAL_SIZE) >
	    EVENTS_SIZE)
		ring_flush();
	ring_resume(was);
	if (!ring_recording)
		return NULL;
	b = get_current_buffer();
	e = (struct vt_ring_event *)((Addr)ring + b->events_offset + b->events);
	VG_(memset)(e, 0, size);
	e->size = size;
	e->type = type;
	e->tid = tid;
	e->ids = ring->ids_next - (Addr)ring - b->ids_offset;
	e->data = ring->data_next - (Addr)ring - b->data_offset;
	pending = size;
	return e + 1;
}

void ring_done(void)
{
	struct vt_ring_buffer *b = get_current_buffer();

	__atomic_store_n(&b->events, b->events + pending, __ATOMIC_RELEASE);
	pending = 0;
}

void ring_number(UInt type, Int tid, Long number)
{
	struct vt_ring_number *n = ring_event(type, tid, sizeof(*n));

	if (n) {
		n->number = number;
		ring_done();
	}
}

void ring_commit(UInt data_size, UInt insns, Int tid)
{
	ring->data_next += data_size;
	ring->ids_next += sizeof(UInt);
	*(ULong *)ring->ids_next = 0;
	ring_number(VT_RING_PARTIAL, tid, insns);
	if (ring_recording && get_current_buffer()->events + PARTIAL_SIZE > EVENTS_SIZE)
		ring_flush();
}

void ring_lost(Int tid, ULong count, const HChar *text)
{
	struct vt_ring_lost *l = ring_event(VT_RING_LOST, tid, sizeof(*l) + VG_(strlen)(text));

	if (l) {
		l->count = count;
		l->text_length = VG_(strlen)(text);
		VG_(memcpy)(l + 1, text, l->text_length);
		ring_done();
	}
}

static void put_start_event(Bool forked)
{
	struct vt_ring_start *s;
	HChar name[VKI_PATH_MAX];
	SizeT length;

	VG_(client_fname)(name, sizeof(name), True);
	length = VG_(strlen)(name);
	s = ring_event(VT_RING_START, threads_current(), sizeof(*s) + length);
	if (!s)
		return;
	s->ppid = ring->ppid;
	s->forked = forked;
	s->name_length = length;
	VG_(memcpy)(s + 1, name, length);
	ring_done();
}

/* ---- making the ring ---- */

static Int open_in_dir(const HChar *name, Int flags)
{
	HChar path[VKI_PATH_MAX];
	SysRes r;

	if (VG_(strlen)(recorder_options.dir) + VG_(strlen)(name) + 2 > sizeof(path))
		return -1;
	VG_(sprintf)(path, "%s/%s", recorder_options.dir, name);
	r = VG_(open)(path, flags, VKI_S_IRUSR | VKI_S_IWUSR);
	if (sr_isError(r))
		return sr_Err(r) == VKI_EEXIST ? -2 : -1;
	/* Outside of the program's descriptors, and closed at an exec. */
	return VG_(safe_fd)((Int)sr_Res(r));
}

/* Creates the file of the next ring of this process. */
static Int create_file(UInt *seq)
{
	HChar name[64];
	Int fd = -2;

	for (*seq = 0; fd == -2; ++*seq) {
		VG_(sprintf)(name, "ring.%d.%u", VG_(getpid)(), *seq);
		fd = open_in_dir(name, VKI_O_RDWR | VKI_O_CREAT | VKI_O_EXCL);
	}
	--*seq;
	return fd;
}

static void fill_header(UInt seq)
{
	UInt i;

	ring->mapped = (Addr)ring;
	ring->size = RING_SIZE;
	ring->pid = VG_(getpid)();
	ring->ppid = VG_(getppid)();
	ring->seq = seq;
	ring->nbuffers = NBUFFERS;
	for (i = 0; i < NBUFFERS; i++) {
		struct vt_ring_buffer *b = &ring->buffers[i];

		b->events_offset = EVENTS_START + i * EVENTS_SIZE;
		b->events_size = EVENTS_SIZE;
		b->data_offset = DATA_START + i * DATA_DISTANCE + DATA_SKIPPED;
		b->data_size = DATA_DISTANCE - DATA_SKIPPED;
		b->ids_offset = IDS_START + i * IDS_DISTANCE;
		b->ids_size = IDS_DISTANCE;
	}
	begin_buffer(0, 0);
	__atomic_store_n(&ring->magic, VT_RING_MAGIC, __ATOMIC_RELEASE);
}

/*
 * Sets the size of the ring's file, and reserves its space: without space, that is an error now,
 * not a signal later when the ring is written.  A file system may have space but be unable to
 * reserve it.
 */
static Bool set_size(Int fd)
{
	SysRes r = VG_(do_syscall)(__NR_fallocate, fd, 0, 0, RING_SIZE, 0, 0, 0, 0);

	if (sr_isError(r) && sr_Err(r) == VKI_ENOSPC)
		return False;
	return make_syscall(__NR_ftruncate, fd, RING_SIZE, 0, 0, 0, 0) == 0;
}

/* Maps a new ring at `ring`, and announces it to the reader. */
static Bool make_ring(Bool forked)
{
	UInt seq;
	Int fd = create_file(&seq);
	UWord at;

	if (fd < 0)
		return False;
	if (!set_size(fd)) {
		VG_(close)(fd);
		return False;
	}
	at = make_syscall(__NR_mmap, (Addr)ring, RING_SIZE, VKI_PROT_READ | VKI_PROT_WRITE,
			  VKI_MAP_SHARED | VKI_MAP_FIXED, fd, 0);
	VG_(close)(fd);
	if (at != (Addr)ring)
		return False;
	fill_header(seq);
	ring_recording = True;
	if (!send_message(VT_RING_HELLO, 0)) {
		end_recording();
		return False;
	}
	put_start_event(forked);
	return True;
}

Bool ring_open(void)
{
	Addr room = (Addr)VG_(am_shadow_alloc)(RING_SIZE + IDS_DISTANCE);
	Int fd = open_in_dir("shared", VKI_O_RDWR);
	SysRes r;

	ring = (struct vt_ring *)((room + IDS_DISTANCE - 1) & ~(IDS_DISTANCE - 1));
	if (fd < 0)
		return False;
	r = VG_(am_shared_mmap_file_float_valgrind)(VKI_PAGE_SIZE, VKI_PROT_READ | VKI_PROT_WRITE,
						    fd, 0);
	VG_(close)(fd);
	if (sr_isError(r))
		return False;
	shared = (struct vt_ring_shared *)sr_Res(r);
	if (shared->magic != VT_RING_MAGIC)
		return False;
	control = open_in_dir("control", VKI_O_WRONLY | VKI_O_NONBLOCK);
	return control >= 0 && make_ring(False);
}

void ring_refused(void)
{
	VG_(umsg)("%s: no reader there, or no room: not recorded\n", recorder_options.dir);
}

Bool ring_reopen(Bool recorded)
{
	if (!ring_recording)
		return False;
	ring_recording = False;
	if (recorded && make_ring(True))
		return True;
	if (recorded)
		ring_refused();
	/* This process must not write to its parent's ring. */
	if (make_syscall(__NR_mmap, (Addr)ring, RING_SIZE, VKI_PROT_READ | VKI_PROT_WRITE,
			 VKI_MAP_PRIVATE | VKI_MAP_ANONYMOUS | VKI_MAP_FIXED, ~0ul,
			 0) != (Addr)ring)
		VG_(tool_panic)("cannot leave the parent's recording");
	fill_header(0);
	ring_recording = True;
	end_recording();
	return False;
}
