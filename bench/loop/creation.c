/* The least that a tree costs: a loop that creates files of 4 KiB.
 *
 *   creation threads|processes WORKERS PARENT FILES
 *
 * Each worker fills directories of its own below PARENT, so that none waits for another's lock.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILE_B = 4096, FILES_PER_DIRECTORY = 20, PATH_B = 4096 };

static const char *parent;
static size_t files_each;

static void make_directory(const char *path)
{
    if (mkdir(path, 0755) != 0)
        err(1, "cannot make %s", path);
}

static void *create(void *argument)
{
    size_t number = (size_t)argument;
    char path[PATH_B], data[FILE_B];
    memset(data, 'x', sizeof data);
    snprintf(path, sizeof path, "%s/%08zu", parent, number);
    make_directory(path);
    for (size_t file = 0; file < files_each; file++) {
        size_t directory = file / FILES_PER_DIRECTORY;
        if (file % FILES_PER_DIRECTORY == 0) {
            snprintf(path, sizeof path, "%s/%08zu/%08zu", parent, number, directory);
            make_directory(path);
        }
        snprintf(path, sizeof path, "%s/%08zu/%08zu/%08zu", parent, number, directory, file);
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (fd < 0 || write(fd, data, FILE_B) != FILE_B || close(fd) != 0)
            err(1, "cannot create %s", path);
    }
    return NULL;
}

static void by_threads(size_t workers)
{
    pthread_t *threads = calloc(workers, sizeof *threads);
    if (threads == NULL)
        err(1, "no memory for the threads");
    for (size_t nth = 0; nth < workers; nth++)
        if (pthread_create(&threads[nth], NULL, create, (void *)nth) != 0)
            errx(1, "cannot start a thread");
    for (size_t nth = 0; nth < workers; nth++)
        pthread_join(threads[nth], NULL);
}

static void by_processes(size_t workers)
{
    for (size_t nth = 0; nth < workers; nth++) {
        pid_t child = fork();
        if (child < 0)
            err(1, "cannot start a process");
        if (child == 0) {
            create((void *)nth);
            exit(0);
        }
    }
    int status;
    while (wait(&status) > 0)
        if (status != 0)
            errx(1, "a process failed");
}

int main(int count, char **arguments)
{
    if (count != 5)
        errx(2, "usage: creation threads|processes WORKERS PARENT FILES");
    size_t workers = strtoul(arguments[2], NULL, 10);
    parent = arguments[3];
    if (workers == 0 || strlen(parent) > PATH_B / 2)
        errx(2, "WORKERS must be positive and PARENT a short path");
    files_each = strtoul(arguments[4], NULL, 10) / workers;
    if (strcmp(arguments[1], "threads") == 0)
        by_threads(workers);
    else if (strcmp(arguments[1], "processes") == 0)
        by_processes(workers);
    else
        errx(2, "threads or processes?");
    return 0;
}
