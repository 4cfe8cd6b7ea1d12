/* What a program does on a mount, and the time and processor time that it takes for it.
 *
 *   stacked cycle|create|read FOLDER COUNT
 *
 * A cycle creates a file of 4 KiB, asks for its attributes, reads it, lists its folder, and removes it. `read` reads the file "large" of the folder COUNT times from its first byte to its
 * last, in pieces of 1 MiB. It prints seconds, and those of user and system time.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FILE_B = 4096, PIECE_B = 1 << 20, PATH_B = 4096 };

static const char *folder;
static char data[PIECE_B];

static void name(char *path, const char *prefix, long nth)
{
    if (snprintf(path, PATH_B, "%s/%s%06ld", folder, prefix, nth) >= PATH_B)
        errx(1, "too long a path: %s", folder);
}

static void create(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, data, FILE_B) != FILE_B || close(fd) != 0)
        err(1, "cannot create %s", path);
}

static void read_whole(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got;
    if (fd < 0)
        err(1, "cannot open %s", path);
    while ((got = read(fd, data, sizeof data)) > 0)
        ;
    if (got < 0 || close(fd) != 0)
        err(1, "cannot read %s", path);
}

static void list(void)
{
    DIR *open_folder = opendir(folder);
    long entries = 0;
    if (open_folder == NULL)
        err(1, "cannot list %s", folder);
    while (readdir(open_folder) != NULL)
        entries++;
    closedir(open_folder);
    if (entries == 0)
        errx(1, "nothing in %s", folder);
}

static void cycle(long nth)
{
    char path[PATH_B];
    struct stat found;
    name(path, "cycle", nth);
    create(path);
    if (stat(path, &found) != 0 || found.st_size != FILE_B)
        err(1, "cannot find %s", path);
    read_whole(path);
    list();
    if (unlink(path) != 0)
        err(1, "cannot remove %s", path);
}

static double seconds(struct timeval of)
{
    return of.tv_sec + of.tv_usec / 1e6;
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

int main(int count, char **arguments)
{
    if (count != 4)
        errx(2, "usage: stacked cycle|create|read FOLDER COUNT");
    const char *kind = arguments[1];
    char path[PATH_B];
    long times = atol(arguments[3]);
    folder = arguments[2];
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    double start_s = now_s();
    for (long nth = 0; nth < times; nth++)
        if (strcmp(kind, "cycle") == 0) {
            cycle(nth);
        } else if (strcmp(kind, "create") == 0) {
            name(path, "file", nth);
            create(path);
        } else {
            snprintf(path, sizeof path, "%s/large", folder);
            read_whole(path);
        }
    double took_s = now_s() - start_s;
    getrusage(RUSAGE_SELF, &after);
    printf("%.6f %.6f %.6f\n", took_s, seconds(after.ru_utime) - seconds(before.ru_utime),
           seconds(after.ru_stime) - seconds(before.ru_stime));
    return 0;
}
