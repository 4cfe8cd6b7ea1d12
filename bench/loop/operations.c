/* The least that operations cost: their system calls in a loop, nothing recorded.
 *
 *   operations KIND TREE THREADS SECONDS
 *
 * Each thread passes over all files below TREE, from a place of its own on. "create" leaves them
 * alone: of twice as many names, each thread has its share, of which half exist at any time; it
 * creates the next and deletes the oldest.
 *
 * Prints the number of operations, counted as the workload language counts them, and the seconds
 * of wall, user and system time that they took.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PIECE_B = 4096, BUFFER_B = 16384, APART_B = 128 };

struct worker {
    alignas(APART_B) uint64_t operations;
    uint64_t random;
    char **paths;
    size_t path_count;
    size_t next, oldest;
    int fd; /* the file that it reads and writes pieces of */
    uint64_t pieces;
    char buffer[BUFFER_B];
    pthread_t thread;
};

struct kind {
    const char *name;
    unsigned (*once)(struct worker *, const char *path); /* returns operations */
    enum { PASSES, KEEPS_OPEN, CREATES } needs;
};

static const struct kind *kind;
static char **files;
static size_t file_count;
static pthread_barrier_t ready;
static atomic_bool over;

static int opened(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC, 0644);
    if (fd < 0)
        err(1, "cannot open %s", path);
    return fd;
}

static void closed(int fd)
{
    if (close(fd) != 0)
        err(1, "cannot close a file");
}

/* A random multiple of PIECE_B within the worker's file (xorshift64, Marsaglia 2003). */
static off_t offset(struct worker *worker)
{
    uint64_t random = worker->random;
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    worker->random = random;
    return (off_t)((random >> 32) * worker->pieces >> 32) * PIECE_B;
}

static unsigned stat_file(struct worker *worker, const char *path)
{
    (void)worker;
    struct stat found;
    if (stat(path, &found) != 0)
        err(1, "cannot stat %s", path);
    return 1;
}

static unsigned open_close(struct worker *worker, const char *path)
{
    (void)worker;
    closed(opened(path, O_RDWR));
    return 2;
}

static unsigned read_piece(struct worker *worker, const char *path)
{
    if (pread(worker->fd, worker->buffer, PIECE_B, offset(worker)) != PIECE_B)
        err(1, "cannot read a piece of a file such as %s", path);
    return 1;
}

static unsigned write_piece(struct worker *worker, const char *path)
{
    if (pwrite(worker->fd, worker->buffer, PIECE_B, offset(worker)) != PIECE_B)
        err(1, "cannot write a piece of a file such as %s", path);
    return 1;
}

static unsigned read_whole(struct worker *worker, const char *path)
{
    int fd = opened(path, O_RDWR);
    ssize_t bytes;
    if (lseek(fd, 0, SEEK_SET) != 0)
        err(1, "cannot seek in %s", path);
    while ((bytes = read(fd, worker->buffer, BUFFER_B)) > 0)
        ;
    if (bytes < 0)
        err(1, "cannot read %s", path);
    closed(fd);
    return 3;
}

static unsigned create_delete(struct worker *worker, const char *path)
{
    closed(opened(path, O_RDWR | O_CREAT));
    path = worker->paths[worker->oldest];
    if (unlink(path) != 0)
        err(1, "cannot delete %s", path);
    if (++worker->oldest == worker->path_count)
        worker->oldest = 0;
    return 3;
}

static const struct kind kinds[] = {
    { "stat", stat_file, PASSES },       { "open", open_close, PASSES },
    { "read", read_piece, KEEPS_OPEN },  { "write", write_piece, KEEPS_OPEN },
    { "whole", read_whole, PASSES },     { "create", create_delete, CREATES },
};

static int add_file(const char *path, const struct stat *found, int type, struct FTW *place)
{
    (void)found, (void)place;
    if (type != FTW_F)
        return 0;
    /* Grows at powers of two. */
    if ((file_count & (file_count - 1)) == 0) {
        files = realloc(files, (file_count ? 2 * file_count : 1) * sizeof *files);
        if (files == NULL)
            err(1, "no memory for the paths");
    }
    files[file_count] = strdup(path);
    return files[file_count++] == NULL;
}

/* Give a worker its share of the names, and create half of them. */
static void make_own_files(struct worker *worker, size_t number, size_t threads)
{
    worker->path_count = 2 * file_count / threads;
    worker->paths = calloc(worker->path_count, sizeof *worker->paths);
    if (worker->paths == NULL || worker->path_count < 2)
        errx(1, "too few files for so many threads, or no memory");
    for (size_t nth = 0; nth < worker->path_count; nth++) {
        size_t name = nth * threads + number;
        if (asprintf(&worker->paths[nth], "%s.%zu", files[name / 2], name % 2) < 0)
            errx(1, "no memory for the paths");
    }
    for (worker->next = 0; worker->next < worker->path_count / 2; worker->next++)
        closed(opened(worker->paths[worker->next], O_RDWR | O_CREAT));
}

static void delete_own_files(struct worker *worker)
{
    for (size_t nth = 0; nth < worker->path_count; nth++)
        unlink(worker->paths[nth]);
}

static void make_ready(struct worker *worker, size_t number, size_t threads)
{
    worker->random = 0x9E3779B97F4A7C15u * (number + 1);
    memset(worker->buffer, 'x', BUFFER_B);
    if (kind->needs == CREATES) {
        make_own_files(worker, number, threads);
        return;
    }
    worker->paths = files;
    worker->path_count = file_count;
    worker->next = number * file_count / threads;
    if (kind->needs == KEEPS_OPEN) {
        struct stat found;
        worker->fd = opened(files[number % file_count], O_RDWR);
        if (fstat(worker->fd, &found) != 0)
            err(1, "cannot stat %s", files[number % file_count]);
        worker->pieces = (uint64_t)found.st_size / PIECE_B;
        if (worker->pieces == 0)
            errx(1, "%s is smaller than %d bytes", files[number % file_count], PIECE_B);
    }
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    pthread_barrier_wait(&ready);
    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        worker->operations += kind->once(worker, worker->paths[worker->next]);
        if (++worker->next == worker->path_count)
            worker->next = 0;
    }
    return NULL;
}

struct times {
    double wall_s, user_s, system_s;
};

static struct times times_now(void)
{
    struct timespec now;
    struct rusage used;
    clock_gettime(CLOCK_MONOTONIC, &now);
    getrusage(RUSAGE_SELF, &used);
    return (struct times){
        (double)now.tv_sec + (double)now.tv_nsec * 1e-9,
        (double)used.ru_utime.tv_sec + (double)used.ru_utime.tv_usec * 1e-6,
        (double)used.ru_stime.tv_sec + (double)used.ru_stime.tv_usec * 1e-6,
    };
}

int main(int count, char **arguments)
{
    if (count != 5)
        errx(2, "usage: operations KIND TREE THREADS SECONDS");
    for (size_t nth = 0; nth < sizeof kinds / sizeof *kinds; nth++)
        if (strcmp(kinds[nth].name, arguments[1]) == 0)
            kind = &kinds[nth];
    size_t threads = strtoul(arguments[3], NULL, 10);
    double seconds = strtod(arguments[4], NULL);
    if (kind == NULL || threads == 0 || !(seconds > 0))
        errx(2, "no such kind, or a number that is not positive");
    if (nftw(arguments[2], add_file, 64, FTW_PHYS) != 0 || file_count == 0)
        errx(1, "found no files below %s", arguments[2]);

    struct worker *workers = aligned_alloc(APART_B, threads * sizeof *workers);
    if (workers == NULL)
        err(1, "no memory for the threads");
    memset(workers, 0, threads * sizeof *workers);
    pthread_barrier_init(&ready, NULL, (unsigned)threads + 1);
    for (size_t nth = 0; nth < threads; nth++) {
        make_ready(&workers[nth], nth, threads);
        if (pthread_create(&workers[nth].thread, NULL, work, &workers[nth]) != 0)
            errx(1, "cannot start a thread");
    }
    pthread_barrier_wait(&ready);
    struct times start = times_now();
    struct timespec pause = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };
    nanosleep(&pause, NULL);
    atomic_store(&over, true);
    uint64_t operations = 0;
    for (size_t nth = 0; nth < threads; nth++) {
        pthread_join(workers[nth].thread, NULL);
        operations += workers[nth].operations;
    }
    struct times end = times_now();
    printf("%llu %.6f %.6f %.6f\n", (unsigned long long)operations, end.wall_s - start.wall_s,
           end.user_s - start.user_s, end.system_s - start.system_s);
    for (size_t nth = 0; kind->needs == CREATES && nth < threads; nth++)
        delete_own_files(&workers[nth]);
    return 0;
}
