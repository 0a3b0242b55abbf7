/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: rec_disturb_process [CASE]
 *
 * Threads, processes, files and registers of a program that is recorded. Without CASE it prints
 * their names. "hostile" writes garbage to the recorder's memory, and "sandbox" forbids itself to
 * open events: only those know that they are recorded.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tools/rec_disturb.h"

#define THREADS	 64
#define CHILDREN 200

/* ---- threads ---- */

static void *square(void *arg)
{
	uint64_t *n = arg;

	disturb_work(5);
	*n *= *n;
	return NULL;
}

static int start_threads(void)
{
	uint64_t numbers[THREADS], sum = 0;
	pthread_t threads[THREADS];
	int i, round;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < THREADS; i++) {
			numbers[i] = (uint64_t)i;
			if (pthread_create(&threads[i], NULL, square, &numbers[i]))
				return 1;
		}
		for (i = 0; i < THREADS; i++) {
			pthread_join(threads[i], NULL);
			sum += numbers[i];
		}
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}

/* As small as the C library allows, and no larger than what it gives a signal. */
static void *use_small_stack(void *arg)
{
	volatile uint32_t *sum = arg;
	uint32_t i;

	for (i = 0; i < 40000000; i++)
		*sum = *sum * 31 + i;
	return NULL;
}

static int use_small_stacks(void)
{
	static uint32_t sums[4];
	pthread_t threads[4];
	pthread_attr_t attr;
	int i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)sysconf(_SC_THREAD_STACK_MIN));
	for (i = 0; i < 4; i++)
		if (pthread_create(&threads[i], &attr, use_small_stack, &sums[i]))
			return 1;
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		printf("%08x\n", (unsigned)sums[i]);
	}
	return 0;
}

static void *work_on(void *arg)
{
	(void)arg;
	for (;;)
		disturb_work(10);
	return NULL;
}

static char next_case[16];

static void *execute(void *arg)
{
	char *const argv[] = {"rec_disturb_process", next_case, NULL};

	(void)arg;
	disturb_work(20);
	execv("/proc/self/exe", argv);
	return NULL;
}

/* The other threads are ended wherever they are. */
static int execute_in_thread(const char *name)
{
	pthread_t threads[4];
	int i;

	snprintf(next_case, sizeof(next_case), "%s", name);
	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work_on, NULL);
	pthread_create(&threads[3], NULL, execute, NULL);
	pthread_join(threads[3], NULL);
	return 1;
}

static int execute_once(void)
{
	return execute_in_thread("done");
}

/* Then waits, so that somebody can look at what it has left. */
static int execute_often(void)
{
	static const char name[] = "DISTURB_LEFT";
	const char *left = getenv(name);
	long n = left ? strtol(left, NULL, 10) : 60;
	char text[24];

	if (!n) {
		puts("begun");
		fflush(stdout);
		sleep(2);
		return 0;
	}
	snprintf(text, sizeof(text), "%ld", n - 1);
	setenv(name, text, 1);
	return execute_in_thread("execs");
}

static int say_done(void)
{
	disturb_work(50);
	puts("done");
	return 6;
}

/* ---- processes ---- */

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

static int fork_children(void)
{
	pid_t pids[CHILDREN];
	int i, sum = 0;

	for (i = 0; i < CHILDREN; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			disturb_work(20);
			_exit(i % 50);
		}
		if (pids[i] < 0)
			return 1;
	}
	for (i = 0; i < CHILDREN; i++)
		sum += WEXITSTATUS(wait_for(pids[i]));
	printf("%d\n", sum);
	return 0;
}

/* A child that has the parent's memory sets its signals before it executes. */
static pid_t vfork_once(void)
{
	pid_t pid = vfork();
	int sig;

	if (pid == 0) {
		/* NOLINTNEXTLINE(clang-analyzer-unix.Vfork): as programs do all the same */
		for (sig = 1; sig < 32; sig++)
			sigaction(sig, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	return pid;
}

static volatile sig_atomic_t caught;

static void count_signal(int sig)
{
	(void)sig;
	caught++;
}

static int start_programs(void)
{
	char *const argv[] = {"false", NULL};
	int i, vforked = 0, spawned = 0;
	pid_t pid;

	sigaction(SIGTRAP, &(struct sigaction){.sa_handler = count_signal}, NULL);
	for (i = 0; i < CHILDREN; i++) {
		vforked += wait_for(vfork_once()) == 0;
		raise(SIGTRAP);
		if (posix_spawn(&pid, "/bin/false", NULL, NULL, argv, environ) == 0)
			spawned += WEXITSTATUS(wait_for(pid));
		disturb_work(1);
	}
	printf("%d %d, own handler %d\n", vforked, spawned, (int)caught);
	return 0;
}

/* Ends at once, from a thread, in the middle of work. */
static void *end_at_once(void *arg)
{
	(void)arg;
	disturb_work(30);
	_exit(9);
}

static int end_in_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, end_at_once, NULL);
	work_on(NULL);
	return 1;
}

/* Says when, by the clock of the samples. */
static int kill_itself(void)
{
	struct timespec t;

	disturb_work(300);
	clock_gettime(CLOCK_MONOTONIC, &t);
	printf("%llu\n", (unsigned long long)t.tv_sec * 1000000000 + (unsigned long long)t.tv_nsec);
	fflush(stdout);
	kill(getpid(), SIGKILL);
	return 1;
}

/* ---- files ---- */

static void print_next(const char *what)
{
	int fd = open("/dev/null", O_RDONLY), other = dup(fd);

	printf("%s: %d %d\n", what, fd, other);
	close(fd);
	close(other);
}

static int close_all(void)
{
	int i, n = 0;

	print_next("at the start");
	for (i = 3; i < 1024; i++)
		n += close(i) == 0;
	print_next("after a loop");
	disturb_work(30);
	closefrom(3);
	print_next("after closefrom");
	printf("close_range %d\n", close_range(3, ~0u, 0));
	disturb_work(30);
	print_next("after close_range");
	if (fork() == 0) {
		print_next("in a child");
		fflush(stdout);
		disturb_work(30);
		_exit(0);
	}
	wait(NULL);
	return n;
}

/* ---- code that changes, registers ---- */

/* mov $imm, %eax; add %edi, %eax; ret */
static int rewrite_code(void)
{
	static const uint8_t bytes[] = {0xb8, 0, 0, 0, 0, 0x01, 0xf8, 0xc3};
	uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t (*volatile call)(uint32_t);
	uint32_t sum = 1, i;

	if (code == MAP_FAILED)
		return 1;
	memcpy(code, bytes, sizeof(bytes));
	memcpy((void *)&call, &code, sizeof(code));
	for (i = 0; i < 3000000; i++) {
		if (i % 16 == 0)
			memcpy(code + 1, &i, sizeof(i));
		sum = sum * 31 + call(sum);
	}
	printf("%08x\n", (unsigned)sum);
	return 0;
}

/*
 * Registers keep what they are given while samples come: xmm or ymm, one of x87, its control word
 * and MXCSR are compared after each round; the vectors are added to over and over.
 */
__attribute__((target("avx2"))) static uint64_t add_vectors(unsigned rounds)
{
	uint64_t out[6][4] = {{0}}, start[4] = {1, 3, 5, 7}, sum = 0;
	unsigned i, k;

	__asm__ volatile("vmovdqu %1, %%ymm0\n"
			 "vpaddq %%ymm0, %%ymm0, %%ymm1\n"
			 "vpaddq %%ymm1, %%ymm0, %%ymm2\n"
			 "vpaddq %%ymm2, %%ymm1, %%ymm3\n"
			 "vpaddq %%ymm3, %%ymm2, %%ymm14\n"
			 "vpaddq %%ymm14, %%ymm3, %%ymm15\n"
			 "1:\n"
			 "vpaddq %%ymm0, %%ymm1, %%ymm1\n"
			 "vpaddq %%ymm1, %%ymm2, %%ymm2\n"
			 "vpaddq %%ymm2, %%ymm3, %%ymm3\n"
			 "vpxor %%ymm3, %%ymm14, %%ymm14\n"
			 "vpaddq %%ymm14, %%ymm15, %%ymm15\n"
			 "decl %0\n"
			 "jnz 1b\n"
			 "vmovdqu %%ymm0, 0(%2)\n"
			 "vmovdqu %%ymm1, 32(%2)\n"
			 "vmovdqu %%ymm2, 64(%2)\n"
			 "vmovdqu %%ymm3, 96(%2)\n"
			 "vmovdqu %%ymm14, 128(%2)\n"
			 "vmovdqu %%ymm15, 160(%2)\n"
			 "vzeroupper\n"
			 : "+r"(rounds)
			 : "m"(start), "r"(out)
			 : "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm14", "xmm15");
	for (i = 0; i < 6; i++)
		for (k = 0; k < 4; k++)
			sum = sum * 31 + out[i][k];
	return sum;
}

__attribute__((target("avx512f"))) static uint64_t add_wide_vectors(unsigned rounds)
{
	uint64_t out[4][8] = {{0}}, start[8] = {1, 3, 5, 7, 11, 13, 17, 19}, sum = 0;
	uint64_t mask = 0;
	unsigned i, k;

	__asm__ volatile("vmovdqu64 %2, %%zmm0\n"
			 "vmovdqa64 %%zmm0, %%zmm30\n"
			 "vmovdqa64 %%zmm0, %%zmm31\n"
			 "movl $0xa5, %%eax\n"
			 "kmovw %%eax, %%k3\n"
			 "1:\n"
			 "vpaddq %%zmm0, %%zmm30, %%zmm30\n"
			 "vpaddq %%zmm30, %%zmm31, %%zmm31%{%%k3%}\n"
			 "vpxorq %%zmm31, %%zmm0, %%zmm1\n"
			 "decl %0\n"
			 "jnz 1b\n"
			 "kmovw %%k3, %%eax\n"
			 "movq %%rax, %1\n"
			 "vmovdqu64 %%zmm0, 0(%3)\n"
			 "vmovdqu64 %%zmm1, 64(%3)\n"
			 "vmovdqu64 %%zmm30, 128(%3)\n"
			 "vmovdqu64 %%zmm31, 192(%3)\n"
			 "vzeroupper\n"
			 : "+r"(rounds), "=m"(mask)
			 : "m"(start), "r"(out)
			 : "memory", "cc", "rax", "xmm0", "xmm1");
	for (i = 0; i < 4; i++)
		for (k = 0; k < 8; k++)
			sum = sum * 31 + out[i][k];
	return sum + mask;
}

static int keep_registers(void)
{
	uint32_t mxcsr = 0x3f80 | 0x40, csr; /* rounds down, denormals are zero */
	uint16_t word = 0x0f7f, cw;	     /* rounds to zero */
	volatile long double ld = 1;
	volatile float f = 1;
	unsigned i, changed = 0;

	__asm__ volatile("ldmxcsr %0; fldcw %1" : : "m"(mxcsr), "m"(word));
	for (i = 1; i < 30000000; i++) {
		ld += 1.0L / i;
		f = f * 0.9999f + 1.0f / (float)i;
		if (i % 1024)
			continue;
		__asm__ volatile("stmxcsr %0; fnstcw %1" : "=m"(csr), "=m"(cw));
		changed += (csr & ~0x3fu) != mxcsr || cw != word;
	}
	printf("%La %a, changed %u\n", ld, (double)f, changed);
	if (__builtin_cpu_supports("avx2"))
		printf("%016llx\n", (unsigned long long)add_vectors(300000000));
	if (__builtin_cpu_supports("avx512f"))
		printf("%016llx\n", (unsigned long long)add_wide_vectors(300000000));
	return 0;
}

/* ---- what knows that it is recorded ---- */

/* Writes to all of the memory, or the heads of the rings, while samples are taken. */
static int overwrite_shared(void)
{
	const char *path = getenv("VTRACE_AGENT");
	unsigned long long from, to;
	uint64_t x = 88172645463325252u;
	FILE *maps = fopen("/proc/self/maps", "r");
	volatile uint64_t *words = NULL;
	char line[4096];
	int i, k;

	while (path && maps && !words && fgets(line, sizeof(line), maps))
		if (strstr(line, path) && sscanf(line, "%llx-%llx", &from, &to) == 2)
			memcpy((void *)&words, &from, sizeof(from));
	if (!words)
		return 3;
	for (i = 0; i < 200; i++) {
		for (k = 0; k < 2000; k++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			words[x >> 32 & (k % 2 ? 0x1fff : (to - from) / 8 / 4 - 1)] = x;
		}
		disturb_work(2);
	}
	return 0;
}

/* Ends processes that call perf_event_open(2), ioctl(2) or process_vm_readv(2). */
static bool forbid_events(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static int enter_sandbox(void)
{
	pid_t pid;

	disturb_work(50);
	if (!forbid_events())
		return 3;
	disturb_work(50);
	pid = fork();
	if (pid == 0) {
		disturb_work(50);
		_exit(5);
	}
	printf("child %x\n", (unsigned)wait_for(pid));
	return 0;
}

/* Only read(), write(), _exit() and the return from a signal are left. */
static int enter_strict_sandbox(void)
{
	volatile uint64_t sum = 0;
	uint64_t i;

	disturb_work(50);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) < 0)
		return 3;
	for (i = 0; i < 100000000; i++)
		sum = sum * 3 + i;
	if (write(1, "alive\n", 6) != 6)
		return 1;
	syscall(SYS_exit, 4);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct disturb_case cases[] = {
		{"threads", start_threads},
		{"small-stacks", use_small_stacks},
		{"exec-in-thread", execute_once},
		{"execs", execute_often},
		{"done", say_done},
		{"children", fork_children},
		{"programs", start_programs},
		{"exit-in-thread", end_in_thread},
		{"killed", kill_itself},
		{"files", close_all},
		{"code", rewrite_code},
		{"registers", keep_registers},
		{"hostile", overwrite_shared},
		{"sandbox", enter_sandbox},
		{"strict-sandbox", enter_strict_sandbox},
	};

	return disturb_run(cases, sizeof(cases) / sizeof(cases[0]), argc > 1 ? argv[1] : NULL);
}
