/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: rec_fork [PROGRAM [ARGUMENT...]]
 *
 * Forks twice, one child after the other. The first executes PROGRAM, if one is given, the second
 * adds numbers and leaves their sum modulo 256, 44, as its status. Prints the children's statuses.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int work(unsigned n)
{
	volatile unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += i;
	return sum & 0xff;
}

static int wait_for(pid_t pid)
{
	int status = -1;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	int first, second;
	pid_t pid;

	pid = fork();
	if (pid == 0) {
		if (argc > 1)
			execv(argv[1], argv + 1);
		_exit(argc > 1 ? 127 : 3);
	}
	first = wait_for(pid);
	pid = fork();
	if (pid == 0)
		_exit(work(1000));
	second = wait_for(pid);
	printf("first %d second %d own %d\n", first, second, work(10));
	return 0;
}
