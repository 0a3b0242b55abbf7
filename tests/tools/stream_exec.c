/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes a stream of executed code (IMAGE, MAP, BLOCK, EXEC) that no program ever ran: for tests
 * and benches of what reads such streams.
 *
 *	stream_exec [options] >FILE          a made-up program; --help lists the options
 *	stream_exec --script <TEXT >FILE     exactly what the text says
 *
 * The made-up program has block after block in one image "/synthetic" that is mapped at 0x400000
 * from offset 0 on; its first block is at 0x401000.  Instructions are 4 bytes long, the last of a
 * block (a conditional jump to the first block) is 2.  The first --values instructions of a block
 * are loads, whose values depend on (block + slot) % 4: always the block's number; a small number,
 * mostly 0; 8 more each time; random.  Process p has pid 1000 + 100 p, its threads tid pid, pid+1,
 *…
 *
 * The text of --script has a line for each record, fields separated by blanks, numbers as in C:
 *
 *	image ID PATH
 *	map PID START LENGTH OFFSET IMAGE
 *	block ID PID ADDR END TARGET LENGTHS [SLOT]...   END: fall, branch, call, return, … as dump
 *	                                                 says; LENGTHS: 4,4,2; SLOT:
 *INSN:WHAT:SIZE[:REG] exec PID TID FIRST SKIP INSNS CALLER IDS [HEX]   IDS: 0,1,1,2; HEX: the
 *values' bytes time NS                                          of the EXEC records that follow
 *	signal PID TID NUMBER IP HANDLER
 *	state PID TID [REASON]
 *	thread PID TID OP				 OP: comm, exec, fork, exit
 *	gap REASON
 *	meta KEY VALUE
 *	event ID NAME POLICY
 *	sample PID TID EVENT IP PERIOD
 *
 * Nothing is checked: it may contradict itself.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/opt.h"
#include "base/rng.h"
#include "stream/bblock.h"
#include "stream/writer.h"

#define FIRST_ADDRESS 0x401000u

struct options {
	uint64_t insns; /* to execute */
	uint64_t per_block;
	uint64_t blocks;
	uint64_t values;
	uint64_t size; /* of a value */
	uint64_t chunk;
	uint64_t threads;
	uint64_t processes;
	uint64_t pool;
	uint64_t width;
	uint64_t seed;
	int order; /* 0 loop, 1 random */
	bool vary;
	bool cut;
	bool times;
	bool script;
	const char *compress;
};

struct made_block {
	uint64_t addr;
	uint32_t insns;
	uint64_t runs; /* so far */
};

/* Where a thread goes on: in block `id`, after `skip` instructions of it. */
struct made_thread {
	int64_t pid;
	int64_t tid;
	uint64_t *first; /* of its process */
	uint32_t id;
	uint32_t skip;
};

struct chunk {
	struct vt_buf ids;
	struct vt_buf data;
	uint64_t insns;
	uint32_t blocks;
	uint32_t skip;
};

struct maker {
	struct options o;
	struct vt_writer *w;
	struct vt_rng rng;
	struct made_block *blocks;
};

/* ---- a made-up program ---- */

static void write_blocks(struct maker *m, int64_t pid)
{
	const struct options *o = &m->o;
	uint8_t lengths[VT_MAX_BLOCK_INSNS], code[4 * VT_MAX_BLOCK_INSNS];
	static const uint8_t jump[] = {0x75, 0x00};
	uint64_t slots[VT_MAX_BLOCK_SLOTS];
	uint64_t i, k;

	for (i = 0; i < o->blocks; i++) {
		const struct made_block *b = &m->blocks[i];
		uint64_t *row = vt_writer_row(m->w, VT_BLOCK);
		uint64_t n = b->insns < o->values ? b->insns : o->values;

		row[VT_BLOCK_ID] = i;
		row[VT_BLOCK_PID] = (uint64_t)pid;
		row[VT_BLOCK_ADDR] = b->addr;
		row[VT_BLOCK_SIZE] = 4 * (uint64_t)b->insns - 2;
		row[VT_BLOCK_INSNS] = b->insns;
		row[VT_BLOCK_END] = VT_END_BRANCH;
		row[VT_BLOCK_TARGET] = FIRST_ADDRESS;
		for (k = 0; k < b->insns; k++) {
			static const uint8_t load[] = {0x48, 0x8b, 0x47, 0x08};
			static const uint8_t nop[] = {0x0f, 0x1f, 0x40, 0x00};

			lengths[k] = k + 1 < b->insns ? 4 : 2;
			memcpy(code + 4 * k, k < n ? load : nop, 4);
		}
		if (k)
			memcpy(code + 4 * (k - 1), jump, sizeof(jump));
		vt_writer_bytes(m->w, VT_BLOCK_LENGTHS, lengths, k);
		vt_writer_bytes(m->w, VT_BLOCK_CODE, code, 4 * k - 2);
		for (k = 0; k < n; k++) {
			struct vt_slot s = {.insn = (uint16_t)k,
					    .what = VT_WHAT_LOAD,
					    .size = (uint16_t)o->size};

			slots[k] = vt_slot_pack(&s);
		}
		vt_writer_words(m->w, VT_BLOCK_SLOTS, slots, n);
	}
}

static void write_image(struct maker *m, uint64_t length)
{
	uint64_t *row = vt_writer_row(m->w, VT_IMAGE);
	uint64_t p;

	row[VT_IMAGE_ID] = 1;
	vt_writer_text(m->w, VT_IMAGE_PATH, "/synthetic");
	for (p = 0; p < m->o.processes; p++) {
		row = vt_writer_row(m->w, VT_MAP);
		row[VT_MAP_PID] = 1000 + 100 * p;
		row[VT_MAP_TID] = 1000 + 100 * p;
		row[VT_MAP_START] = 0x400000;
		row[VT_MAP_LENGTH] = length;
		row[VT_MAP_IMAGE] = 1;
		row[VT_MAP_PROT] = 5;
	}
	if (m->o.times) {
		row = vt_writer_row(m->w, VT_TIMECONV);
		row[VT_TIMECONV_MULT] = 1;
	}
}

static bool make_blocks(struct maker *m)
{
	uint64_t addr = FIRST_ADDRESS;
	uint64_t i;

	m->blocks = calloc(m->o.blocks, sizeof(*m->blocks));
	if (!m->blocks)
		return false;
	for (i = 0; i < m->o.blocks; i++) {
		uint64_t n = m->o.vary ? 1 + i * 7 % (2 * m->o.per_block - 1) : m->o.per_block;

		m->blocks[i] = (struct made_block){addr, (uint32_t)n, 0};
		addr += 4 * n - 2;
	}
	write_image(m, addr - 0x400000);
	write_blocks(m, 1000);
	return true;
}

/* Random blocks are skewed, as real ones: the first eighth of them runs half of the time. */
static uint32_t next_block(struct maker *m, uint32_t id)
{
	double u;

	if (m->o.order == 0)
		return (uint32_t)((id + 1) % m->o.blocks);
	u = (double)(vt_rng_next(&m->rng) >> 11) * 0x1p-53;
	return (uint32_t)(u * u * u * (double)m->o.blocks);
}

static void put_value(struct maker *m, struct vt_buf *data, uint32_t id, uint32_t slot)
{
	struct made_block *b = &m->blocks[id];
	uint64_t v = id, r, i;

	switch ((id + slot) % 4) {
	case 1:
		r = vt_rng_next(&m->rng);
		v = r & 3 ? 0 : r >> 60;
		break;
	case 2:
		v = 8 * b->runs;
		break;
	case 3:
		v = vt_rng_next(&m->rng);
		break;
	default:
		break;
	}
	for (i = 0; i < m->o.size; i++)
		vt_buf_put_u8(data, (uint8_t)(v >> i % 8 * 8));
}

/* One more block, or what fits of it; false when the chunk is full. */
static bool add_block(struct maker *m, struct made_thread *t, struct chunk *c, uint64_t limit)
{
	struct made_block *b = &m->blocks[t->id];
	uint32_t end = b->insns;
	bool last = c->blocks + 1 == m->o.chunk;
	uint32_t i;

	if (last && m->o.cut && end - t->skip > 1)
		end = t->skip + 1 + (uint32_t)vt_rng_below(&m->rng, end - t->skip);
	if (end - t->skip > limit)
		end = t->skip + (uint32_t)limit;
	if (m->o.width == 2)
		vt_buf_put_u8(&c->ids, (uint8_t)t->id),
			vt_buf_put_u8(&c->ids, (uint8_t)(t->id >> 8));
	else
		vt_buf_put_le32(&c->ids, t->id);
	for (i = t->skip; i < end && i < m->o.values; i++)
		put_value(m, &c->data, t->id, i);
	c->insns += end - t->skip;
	c->blocks++;
	t->skip = end;
	if (end == b->insns) {
		b->runs++;
		t->id = next_block(m, t->id);
		t->skip = 0;
	}
	return !last;
}

static void write_chunk(struct maker *m, struct made_thread *t, const struct chunk *c)
{
	uint64_t *row = vt_writer_row(m->w, VT_EXEC);

	if (m->o.times)
		row[VT_EXEC_TIME] = 1000 + *t->first;
	row[VT_EXEC_PID] = (uint64_t)t->pid;
	row[VT_EXEC_TID] = (uint64_t)t->tid;
	row[VT_EXEC_FIRST] = *t->first;
	row[VT_EXEC_BLOCKS] = c->blocks;
	row[VT_EXEC_INSNS] = c->insns;
	row[VT_EXEC_SKIP] = c->skip;
	row[VT_EXEC_WIDTH] = m->o.width;
	vt_writer_bytes(m->w, VT_EXEC_IDS, c->ids.data, c->ids.size);
	vt_writer_bytes(m->w, VT_EXEC_DATA, c->data.data, c->data.size);
	*t->first += c->insns;
}

static bool run_program(struct maker *m)
{
	uint64_t nthreads = m->o.threads * m->o.processes;
	uint64_t npool = m->o.pool ? m->o.pool : 1;
	struct made_thread *threads = calloc(nthreads, sizeof(*threads));
	uint64_t *firsts = calloc(m->o.processes, sizeof(*firsts));
	struct chunk *pool = calloc(npool, sizeof(*pool));
	uint64_t done = 0, n, i;

	for (i = 0; threads && firsts && i < nthreads; i++) {
		uint64_t p = i % m->o.processes;

		threads[i].pid = (int64_t)(1000 + 100 * p);
		threads[i].tid = threads[i].pid + (int64_t)(i / m->o.processes);
		threads[i].first = &firsts[p];
	}
	for (n = 0; nthreads && threads && firsts && pool && done < m->o.insns; n++) {
		struct made_thread *t = &threads[n % nthreads];
		struct chunk *c = &pool[n % npool];

		if (n < npool || !m->o.pool) {
			c->ids.size = c->data.size = 0;
			c->blocks = 0;
			c->insns = 0;
			c->skip = t->skip;
			while (c->insns < m->o.insns - done &&
			       add_block(m, t, c, m->o.insns - done - c->insns))
				;
		}
		write_chunk(m, t, c);
		done += c->insns;
	}
	for (i = 0; pool && i < npool; i++) {
		vt_buf_free(&pool[i].ids);
		vt_buf_free(&pool[i].data);
	}
	free(pool);
	free(firsts);
	free(threads);
	return done >= m->o.insns;
}

/* ---- what a text says ---- */

static uint64_t number(const char *s)
{
	return s ? strtoull(s, NULL, 0) : 0;
}

static uint64_t number_of(const char *(*name)(uint64_t), const char *word)
{
	uint64_t i;

	for (i = 0; word && i < 64; i++)
		if (strcmp(name(i), word) == 0)
			return i;
	return number(word);
}

static void script_block(struct vt_writer *w, char **word, size_t n)
{
	uint64_t *row = vt_writer_row(w, VT_BLOCK);
	uint64_t slots[VT_MAX_BLOCK_SLOTS + 1];
	uint8_t lengths[4096];
	size_t count = 0, nslots = 0, i;
	char *p;

	for (p = word[6]; p && count < sizeof(lengths);
	     p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		lengths[count] = (uint8_t)number(p);
		row[VT_BLOCK_SIZE] += lengths[count++];
	}
	row[VT_BLOCK_ID] = number(word[1]);
	row[VT_BLOCK_PID] = number(word[2]);
	row[VT_BLOCK_ADDR] = number(word[3]);
	row[VT_BLOCK_END] = number_of(vt_block_end_name, word[4]);
	row[VT_BLOCK_TARGET] = number(word[5]);
	row[VT_BLOCK_INSNS] = count;
	vt_writer_bytes(w, VT_BLOCK_LENGTHS, lengths, count);
	for (i = 7; i < n && nslots <= VT_MAX_BLOCK_SLOTS; i++) {
		const char *insn = strtok(word[i], ":");
		const char *what = strtok(NULL, ":");
		const char *size = strtok(NULL, ":");
		const char *reg = strtok(NULL, ":");
		struct vt_slot s = {.insn = (uint16_t)number(insn),
				    .what = (uint8_t)number_of(vt_what_name, what),
				    .size = (uint16_t)number(size),
				    .reg = (uint16_t)number(reg)};

		slots[nslots++] = vt_slot_pack(&s);
	}
	vt_writer_words(w, VT_BLOCK_SLOTS, slots, nslots);
}

static void script_exec(struct vt_writer *w, char **word, uint64_t time)
{
	uint64_t *row = vt_writer_row(w, VT_EXEC);
	struct vt_buf b = VT_BUF_INIT;
	const char *p = word[7];

	row[VT_EXEC_TIME] = time;
	row[VT_EXEC_PID] = number(word[1]);
	row[VT_EXEC_TID] = number(word[2]);
	row[VT_EXEC_FIRST] = number(word[3]);
	row[VT_EXEC_SKIP] = number(word[4]);
	row[VT_EXEC_INSNS] = number(word[5]);
	row[VT_EXEC_CALLER] = number(word[6]);
	row[VT_EXEC_WIDTH] = 4;
	for (; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		vt_buf_put_le32(&b, (uint32_t)number(p));
		row[VT_EXEC_BLOCKS]++;
	}
	vt_writer_bytes(w, VT_EXEC_IDS, b.data, b.size);
	b.size = 0;
	for (p = word[8]; p && isxdigit((unsigned char)p[0]) && p[1]; p += 2) {
		char pair[3] = {p[0], p[1], 0};

		vt_buf_put_u8(&b, (uint8_t)strtoul(pair, NULL, 16));
	}
	vt_writer_bytes(w, VT_EXEC_DATA, b.data, b.size);
	vt_buf_free(&b);
}

/* A record whose numbers follow in the order of these fields. */
static void script_numbers(struct vt_writer *w, uint32_t kind, char **word, const int *fields)
{
	uint64_t *row = vt_writer_row(w, kind);

	for (; *fields >= 0; fields++)
		row[*fields] = number(*++word);
}

static bool script_small(struct vt_writer *w, char **word)
{
	static const int map[] = {VT_MAP_PID,	 VT_MAP_START, VT_MAP_LENGTH,
				  VT_MAP_OFFSET, VT_MAP_IMAGE, -1};
	static const int signal[] = {VT_SIGNAL_PID, VT_SIGNAL_TID,     VT_SIGNAL_NUMBER,
				     VT_SIGNAL_IP,  VT_SIGNAL_HANDLER, -1};
	static const int state[] = {VT_STATE_PID, VT_STATE_TID, VT_STATE_REASON, -1};
	static const int sample[] = {VT_SAMPLE_PID, VT_SAMPLE_TID,    VT_SAMPLE_EVENT,
				     VT_SAMPLE_IP,  VT_SAMPLE_PERIOD, -1};
	const char *key = word[0];

	if (strcmp(key, "image") == 0) {
		vt_writer_row(w, VT_IMAGE)[VT_IMAGE_ID] = number(word[1]);
		vt_writer_text(w, VT_IMAGE_PATH, word[2] ? word[2] : "");
	} else if (strcmp(key, "meta") == 0) {
		vt_writer_row(w, VT_META);
		vt_writer_text(w, VT_META_KEY, word[1] ? word[1] : "");
		vt_writer_text(w, VT_META_VALUE, word[2] ? word[2] : "");
	} else if (strcmp(key, "event") == 0) {
		uint64_t *row = vt_writer_row(w, VT_EVENT);

		row[VT_EVENT_ID] = number(word[1]);
		row[VT_EVENT_POLICY] = number_of(vt_policy_name, word[3]);
		vt_writer_text(w, VT_EVENT_NAME, word[2] ? word[2] : "");
	} else if (strcmp(key, "thread") == 0) {
		uint64_t *row = vt_writer_row(w, VT_THREAD);

		row[VT_THREAD_PID] = number(word[1]);
		row[VT_THREAD_TID] = number(word[2]);
		row[VT_THREAD_OP] = number_of(vt_thread_op_name, word[3]);
	} else if (strcmp(key, "gap") == 0) {
		vt_writer_row(w, VT_GAP);
		vt_writer_text(w, VT_GAP_REASON, word[1] ? word[1] : "");
	} else if (strcmp(key, "map") == 0) {
		script_numbers(w, VT_MAP, word, map);
	} else if (strcmp(key, "signal") == 0) {
		script_numbers(w, VT_SIGNAL, word, signal);
	} else if (strcmp(key, "state") == 0) {
		script_numbers(w, VT_STATE, word, state);
	} else if (strcmp(key, "sample") == 0) {
		script_numbers(w, VT_SAMPLE, word, sample);
	} else {
		return false;
	}
	return true;
}

static bool run_script(struct vt_writer *w)
{
	static char line[1 << 20];
	uint64_t time = 0;

	while (fgets(line, sizeof(line), stdin)) {
		char *word[1100] = {NULL};
		size_t n = 0;
		char *p;

		for (p = strtok(line, " \t\n"); p && n < 1090; p = strtok(NULL, " \t\n"))
			word[n++] = p;
		if (!n || word[0][0] == '#')
			continue;
		if (strcmp(word[0], "block") == 0)
			script_block(w, word, n);
		else if (strcmp(word[0], "exec") == 0)
			script_exec(w, word, time);
		else if (strcmp(word[0], "time") == 0)
			time = number(word[1]);
		else if (!script_small(w, word)) {
			fprintf(stderr, "stream_exec: no such record: %s\n", word[0]);
			return false;
		}
	}
	return true;
}

/* ---- the command line ---- */

static const char *const orders[] = {"loop", "random", NULL};

static int run(struct maker *m)
{
	struct vt_writer_options wo = {.compression = VT_COMPRESS_NONE};
	struct vt_error err = VT_ERROR_INIT;
	bool ok;

	if (m->o.compress && strcmp(m->o.compress, "zstd") == 0)
		wo.compression = VT_COMPRESS_ZSTD;
	else if (m->o.compress && strcmp(m->o.compress, "zlib") == 0)
		wo.compression = VT_COMPRESS_ZLIB;
	m->w = vt_writer_open("-", &wo, &err);
	if (!m->w) {
		fprintf(stderr, "stream_exec: %s\n", err.text);
		return 1;
	}
	vt_rng_init(&m->rng, m->o.seed);
	ok = m->o.script ? run_script(m->w) : make_blocks(m) && run_program(m);
	free(m->blocks);
	if (!ok) {
		vt_writer_abandon(m->w);
		return 1;
	}
	if (vt_writer_close(m->w, VT_STATUS_COMPLETE, &err) < 0) {
		fprintf(stderr, "stream_exec: %s\n", err.text);
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct maker m = {.o = {.insns = 1000000,
				.per_block = 6,
				.blocks = 1000,
				.size = 8,
				.chunk = 4096,
				.threads = 1,
				.processes = 1,
				.width = 2,
				.seed = 1}};
	const struct vt_opt opts[] = {
		{'n', "insns", VT_OPT_U64, &m.o.insns, "N", "instructions to execute (1000000)",
		 NULL, 1, 0, NULL, false, NULL, NULL, NULL},
		{'i', "per-block", VT_OPT_U64, &m.o.per_block, "N", "instructions of a block (6)",
		 NULL, 1, VT_MAX_BLOCK_INSNS / 2, NULL, false, NULL, NULL, NULL},
		{'B', "blocks", VT_OPT_U64, &m.o.blocks, "N", "different blocks (1000)", NULL, 1,
		 65536, NULL, false, NULL, NULL, NULL},
		{'v', "values", VT_OPT_U64, &m.o.values, "N", "loads with values in each block (0)",
		 NULL, 0, 64, NULL, false, NULL, NULL, NULL},
		{0, "size", VT_OPT_U64, &m.o.size, "N", "bytes of a value (8)", NULL, 1, 64, NULL,
		 false, NULL, NULL, NULL},
		{'c', "chunk", VT_OPT_U64, &m.o.chunk, "N", "blocks of an EXEC record (4096)", NULL,
		 1, 1 << 20, NULL, false, NULL, NULL, NULL},
		{'t', "threads", VT_OPT_U64, &m.o.threads, "N",
		 "threads of a process, in turns (1)", NULL, 1, 64, NULL, false, NULL, NULL, NULL},
		{'p', "processes", VT_OPT_U64, &m.o.processes, "N",
		 "processes, in turns; they share the blocks (1)", NULL, 1, 64, NULL, false, NULL,
		 NULL, NULL},
		{0, "pool", VT_OPT_U64, &m.o.pool, "N",
		 "repeat the first N EXEC records for ever: quick; not with --cut", NULL, 0, 4096,
		 NULL, false, NULL, NULL, NULL},
		{'w', "width", VT_OPT_U64, &m.o.width, "N", "bytes of an id, 2 or 4 (2)", NULL, 2,
		 4, NULL, false, NULL, NULL, NULL},
		{'s', "seed", VT_OPT_U64, &m.o.seed, "N", "seed (1)", NULL, 0, 0, NULL, false, NULL,
		 NULL, NULL},
		{.letter = 'o',
		 .name = "order",
		 .type = VT_OPT_CHOICE,
		 .value = &m.o.order,
		 .arg = "HOW",
		 .choices = orders,
		 .help = "loop: one block after the other; random"},
		{0, "vary", VT_OPT_FLAG, &m.o.vary, .help = "blocks of 1 to 2 N - 1 instructions"},
		{0, "cut", VT_OPT_FLAG, &m.o.cut, .help = "let EXEC records end within a block"},
		{0, "times", VT_OPT_FLAG, &m.o.times,
		 .help = "times of a nanosecond for each instruction, and TIMECONV"},
		{0, "script", VT_OPT_FLAG, &m.o.script, .help = "write what standard input says"},
		{.letter = 'z',
		 .name = "compress",
		 .type = VT_OPT_STRING,
		 .value = &m.o.compress,
		 .arg = "HOW",
		 .help = "none, zlib, zstd"},
		{.name = NULL},
	};
	const struct vt_opt_page page = {.program = "stream_exec",
					 .usage = "[options] >FILE",
					 .about = "Writes a made-up stream of executed code.",
					 .opts = opts};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_buf help = VT_BUF_INIT;
	int first;

	switch (vt_opt_parse(&page, argc, argv, &first, NULL, &err)) {
	case VT_OPT_RUN:
		return run(&m);
	case VT_OPT_HELP:
		vt_opt_help(&help, &page);
		fputs(vt_buf_str(&help), stdout);
		vt_buf_free(&help);
		return 0;
	default:
		fprintf(stderr, "stream_exec: %s\n", err.text);
		return 2;
	}
}
